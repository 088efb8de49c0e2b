/* Versions of files: how many there are, for whom, and how long they are kept. */
#include "stream/sequence.h"

#include "model/version.h"
#include "model/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- links ---- */

static int link_add(struct leat_stream *s, struct leat_flow_port *port, size_t source)
{
	struct leat_flow_link *link = leat_heap_alloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	*link = (struct leat_flow_link){
		.step = port->step, .in = port->in, .port = port, .source = source};
	LL_APPEND(s->links, link);
	return 0;
}

static int port_add(struct leat_stream *s, int step, const struct leat_inport *in)
{
	struct leat_flow_port *port = leat_heap_alloc(1, sizeof(*port));
	int rc = 0;

	if (!port)
		return -ENOMEM;
	port->step = step;
	port->in = in;
	LL_PREPEND(s->ports, port);
	for (size_t i = 0; !rc && i < in->n_sources; i++)
		rc = link_add(s, port, i);
	return rc;
}

int leat_versions_init(struct leat_stream *s)
{
	int rc = 0;

	for (int step = 0; step < s->n_steps; step++) {
		const struct leat_step *model = &s->wf->steps[step];

		for (size_t i = 0; !rc && i < model->n_inports; i++)
			if (leat_inport_has_versions(&model->inports[i]))
				rc = port_add(s, step, &model->inports[i]);
	}
	return rc;
}

static void delivery_free(struct leat_flow_link *link, struct leat_delivery *d)
{
	DL_DELETE(link->due, d);
	leat_heap_free(d);
}

void leat_versions_free(struct leat_stream *s)
{
	struct leat_flow_link *link, *next_link;
	struct leat_flow_port *port, *next_port;
	struct leat_series *series, *next_series;
	struct leat_take *t, *next_take;

	HASH_ITER(hh, s->takes, t, next_take)
	{
		HASH_DEL(s->takes, t);
		leat_heap_free(t);
	}
	leat_sequences_free(s);
	HASH_ITER(hh, s->series, series, next_series)
	{
		HASH_DEL(s->series, series);
		leat_heap_free(series->base);
		leat_heap_free(series);
	}
	LL_FOREACH_SAFE(s->links, link, next_link)
	{
		while (link->due)
			delivery_free(link, link->due);
		leat_heap_free(link);
	}
	LL_FOREACH_SAFE(s->ports, port, next_port)
	{
		leat_heap_free(port);
	}
	for (int step = 0; s->steps && step < s->n_steps; step++)
		leat_over_clear(s, step);
}

/* Does the link carry what step `from` makes as `base`? */
bool leat_link_carries(const struct leat_flow_link *link, int from, const char *base)
{
	const char *made = leat_link_source(link)->made;

	return leat_link_source(link)->step == from &&
	       (leat_pattern_match(made, base) || leat_pattern_covers(made, base));
}

struct leat_series *leat_series_find(const struct leat_stream *s, const char *base)
{
	struct leat_series *series;

	HASH_FIND_STR(s->series, base, series);
	return series;
}

static struct leat_series *series_get(struct leat_stream *s, const char *base)
{
	struct leat_series *series = leat_series_find(s, base);

	if (series)
		return series;
	series = leat_heap_alloc(1, sizeof(*series));
	if (!series || !(series->base = leat_heap_copy(base)))
		goto fail;
	HASH_ADD_KEYPTR(hh, s->series, series->base, strlen(series->base), series);
	if (series->hh.tbl)
		return series;
fail:
	if (series)
		leat_heap_free(series->base);
	leat_heap_free(series);
	s->error = -ENOMEM;
	return NULL;
}

/* ---- what is kept ---- */

/* Nobody will ask for this version any more: it need not be kept. */
static void drop_unwanted(struct leat_stream *s, struct leat_name_state *n)
{
	uint64_t number;
	const struct leat_series *series = leat_series_find(s, leat_version_base(n->text, &number));

	if (n->wanted || n->dropped || !series || (number == series->latest && !series->removed))
		return;
	n->dropped = true;
	if (s->ops.unwanted)
		s->ops.unwanted(s->ctx, n->text);
}

void leat_version_unwant(struct leat_stream *s, struct leat_name_state *n)
{
	n->wanted--;
	drop_unwanted(s, n);
}

static void deliver(struct leat_stream *s, struct leat_flow_link *link, struct leat_name_state *n)
{
	struct leat_delivery *d = leat_heap_alloc(1, sizeof(*d));

	if (!d) {
		s->error = -ENOMEM;
		return;
	}
	d->name = n;
	n->wanted++;
	DL_APPEND(link->due, d);
}

static void remove_delivery(struct leat_stream *s, struct leat_flow_link *link,
			    struct leat_delivery *d)
{
	struct leat_name_state *n = d->name;

	delivery_free(link, d);
	leat_version_unwant(s, n);
}

/* Version `n` itself, with `too`, and under `latest` what is older, is of no use to this consumer
 * any more. */
void leat_link_pass(struct leat_stream *s, struct leat_flow_link *link,
		    const struct leat_name_state *n, bool too)
{
	struct leat_delivery *d, *found;

	DL_SEARCH_SCALAR(link->due, found, name, n);
	while (found && link->in->flow == LEAT_FLOW_LATEST && (d = link->due) != found)
		remove_delivery(s, link, d);
	if (found && too)
		remove_delivery(s, link, found);
}

/* Calls that wait for what a version, or its taking, decides look again. */
void leat_link_wake(struct leat_stream *s, const struct leat_flow_link *link)
{
	struct leat_waiter *w, *next;

	s->broad = true;
	HASH_ITER(hh, s->waiters, w, next)
	{
		if (w->question.call == LEAT_CALL_WRITE)
			leat_touch(s, w->on);
		/* Of several sources any may be the next. */
		else if (w->question.step == link->step && link->in->n_sources > 1)
			leat_waiter_wake(s, w);
	}
}

void leat_version_found(struct leat_stream *s, const struct leat_name_state *n)
{
	uint64_t number;
	struct leat_series *series = series_get(s, leat_version_base(n->text, &number));

	if (series && number > series->latest)
		series->latest = number;
}

void leat_versions_made(struct leat_stream *s, struct leat_name_state *n, int step)
{
	uint64_t number;
	const char *base = leat_version_base(n->text, &number);
	struct leat_flow_link *link;
	struct leat_series *series;
	struct leat_name_state *last;
	char name[PATH_MAX];

	if (!n->versioned || n->content->is_dir)
		return;
	series = series_get(s, base);
	if (!series || number <= series->latest)
		return;
	last = leat_version_put(name, base, series->latest) ? leat_name_find(s, name) : NULL;
	series->latest = number;
	series->removed = false;
	LL_FOREACH(s->links, link)
	{
		if (leat_link_carries(link, step, base) &&
		    leat_flow_delivers(link->in, ++link->begun) &&
		    !leat_step_is_over(&s->steps[link->step]))
			deliver(s, link, n);
	}
	if (last)
		drop_unwanted(s, last);
}

bool leat_version_is_prepared(const struct leat_stream *s, const struct leat_name_state *n)
{
	const struct leat_series *series;
	uint64_t number;

	if (!n->versioned || !n->content || !n->content->old)
		return false;
	series = leat_series_find(s, leat_version_base(n->text, &number));
	return series && number == series->latest + 1;
}

void leat_versions_untouched(struct leat_stream *s, struct leat_content *c)
{
	struct leat_name_state *n = c->names;

	if (c->writers || !n || !leat_version_is_prepared(s, n)) {
		leat_content_release(s, c);
		return;
	}
	leat_content_detach(s, n);
	if (s->ops.unwanted)
		s->ops.unwanted(s->ctx, n->text);
}

void leat_versions_leave(struct leat_stream *s, const struct leat_name_state *n)
{
	uint64_t number;
	struct leat_series *series = leat_series_find(s, leat_version_base(n->text, &number));
	struct leat_name_state *last;
	char name[PATH_MAX];

	if (!leat_version_is_prepared(s, n))
		return;
	last = leat_version_put(name, series->base, series->latest) ? leat_name_find(s, name)
								    : NULL;
	series->removed = true;
	if (last)
		drop_unwanted(s, last);
}

bool leat_versions_removed(struct leat_stream *s, struct leat_name_state *n, int step)
{
	uint64_t number;
	struct leat_series *series;

	if (leat_name_produced_by(n, step))
		leat_versions_leave(s, n);
	if (!n->versioned || n->state != LEAT_FILE_COMMITTED || !leat_name_produced_by(n, step))
		return false;
	series = leat_series_find(s, leat_version_base(n->text, &number));
	if (!series || number != series->latest)
		return false;
	series->removed = true;
	drop_unwanted(s, n);
	return true;
}

void leat_versions_changed(struct leat_stream *s, struct leat_name_state *n)
{
	struct leat_flow_link *link;
	struct leat_delivery *d;

	if (!n->versioned || n->state == LEAT_FILE_PRODUCED)
		return;
	if (n->state == LEAT_FILE_COMMITTED)
		leat_takes_complete(s, n);
	LL_FOREACH(s->links, link)
	{
		DL_SEARCH_SCALAR(link->due, d, name, n);
		if (!d)
			continue;
		if (link->in->flow == LEAT_FLOW_LATEST && n->state == LEAT_FILE_COMMITTED)
			leat_link_pass(s, link, n, false);
		leat_link_wake(s, link);
	}
}

void leat_versions_step_over(struct leat_stream *s, int step)
{
	struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		if (link->step == step)
			while (link->due)
				remove_delivery(s, link, link->due);
		/* What it has made is all there will be. */
		if (link->step == step || leat_link_source(link)->step == step)
			leat_link_wake(s, link);
	}
	leat_sequences_step_over(s, step);
}

bool leat_versions_hold(const struct leat_stream *s, const struct leat_name_state *n, int step,
			int *blocker)
{
	uint64_t number;
	const char *base = leat_version_base(n->text, &number);
	const struct leat_flow_link *link;
	const struct leat_delivery *d;

	LL_FOREACH(s->links, link)
	{
		if (link->in->flow == LEAT_FLOW_LATEST || !leat_link_carries(link, step, base) ||
		    !leat_flow_delivers(link->in, link->begun + 1))
			continue;
		DL_FOREACH(link->due, d)
		{
			/* What is not complete yet cannot have been taken. */
			if (!leat_state_is_final(d->name->state))
				continue;
			*blocker = link->step;
			return true;
		}
	}
	return false;
}

bool leat_versions_whole(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_flow_link *link;
	const struct leat_delivery *d;

	if (leat_takes_doubt(s, n, step))
		return true;
	LL_FOREACH(s->links, link)
	{
		if (link->step != step || link->in->flow != LEAT_FLOW_LATEST)
			continue;
		DL_SEARCH_SCALAR(link->due, d, name, n);
		if (d)
			return true;
	}
	return false;
}

bool leat_stream_has_versions(const struct leat_stream *s, const char *name)
{
	return leat_versions_concern(s, name);
}

bool leat_stream_made(const struct leat_stream *s, const char *name)
{
	enum leat_file_state state = leat_stream_state(s, name);
	const struct leat_series *series = leat_series_find(s, name);

	return state == LEAT_FILE_PRODUCED || state == LEAT_FILE_COMMITTED ||
	       (series && series->latest);
}

bool leat_versions_concern(const struct leat_stream *s, const char *name)
{
	uint64_t number;
	const char *base = leat_version_base(name, &number);
	const struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		if (leat_link_carries(link, leat_link_source(link)->step, base))
			return true;
	}
	return false;
}

bool leat_versions_concern_input(const struct leat_stream *s, int step, const char *text)
{
	const struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		if (link->step == step && !strcmp(leat_link_source(link)->made, text))
			return true;
	}
	return false;
}
