/* Versions of files: how many there are, and for whom. */
#include "stream/flow/versions.h"
#include "stream/flow/consume.h"
#include "stream/flow/links.h"
#include "stream/flow/rank_end.h"
#include "stream/flow/sequence.h"
#include "stream/state/content.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"
#include "stream/state/steps.h"

#include "model/version.h"
#include "model/view.h"

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
	series = leat_series_get(s, base);
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
			leat_link_deliver(s, link, n);
	}
	if (last)
		leat_version_drop_unwanted(s, last);
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
		leat_version_drop_unwanted(s, last);
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
	leat_version_drop_unwanted(s, n);
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
				leat_link_remove(s, link, link->due);
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

void leat_flow_free(struct leat_stream *s)
{
	leat_takes_free(s);
	leat_sequences_free(s);
	leat_series_free(s);
	leat_deliveries_free(s);
	leat_ports_free(s);
	for (int step = 0; s->steps && step < s->n_steps; step++)
		leat_rank_end_clear(s, step);
}
