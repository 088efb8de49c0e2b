/* Versions on their way to a consumer, and how long each is kept. */
#include "stream/flow/links.h"
#include "stream/state/ports.h"
#include "stream/state/queue.h"
#include "stream/state/waiters.h"

#include "model/version.h"

#include <errno.h>
#include <string.h>

static void delivery_free(struct leat_flow_link *link, struct leat_delivery *d)
{
	DL_DELETE(link->due, d);
	leat_heap_free(d);
}

struct leat_series *leat_series_find(const struct leat_stream *s, const char *base)
{
	struct leat_series *series;

	HASH_FIND_STR(s->series, base, series);
	return series;
}

struct leat_series *leat_series_get(struct leat_stream *s, const char *base)
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
void leat_version_drop_unwanted(struct leat_stream *s, struct leat_name_state *n)
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
	leat_version_drop_unwanted(s, n);
}

void leat_link_deliver(struct leat_stream *s, struct leat_flow_link *link,
		       struct leat_name_state *n)
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

void leat_link_remove(struct leat_stream *s, struct leat_flow_link *link, struct leat_delivery *d)
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
		leat_link_remove(s, link, d);
	if (found && too)
		leat_link_remove(s, link, found);
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
	struct leat_series *series = leat_series_get(s, leat_version_base(n->text, &number));

	if (series && number > series->latest)
		series->latest = number;
}

void leat_series_free(struct leat_stream *s)
{
	struct leat_series *series, *next;

	HASH_ITER(hh, s->series, series, next)
	{
		HASH_DEL(s->series, series);
		leat_heap_free(series->base);
		leat_heap_free(series);
	}
}

void leat_deliveries_free(struct leat_stream *s)
{
	struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		while (link->due)
			delivery_free(link, link->due);
	}
}
