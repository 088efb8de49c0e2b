/* Descriptions are closed, and processes end. */
#include "stream/facts/close.h"
#include "stream/flow/sequence.h"
#include "stream/flow/versions.h"
#include "stream/rules/commit.h"
#include "stream/rules/violation.h"
#include "stream/state/content.h"
#include "stream/state/names.h"
#include "stream/state/ofds.h"
#include "stream/state/queue.h"
#include "stream/state/steps.h"

#include <errno.h>

static void check_closes(struct leat_stream *s, const struct leat_ofd *o)
{
	const struct leat_content *c = o->content;
	const struct leat_name_state *n;

	DL_FOREACH2(c->names, n, same_next)
	{
		if (!o->late && leat_name_produced_by(n, o->step) &&
		    n->rule->commit == LEAT_COMMIT_ON_CLOSE && n->rule->count &&
		    leat_commit_closes(n) > n->rule->count)
			leat_violation_report(s, LEAT_VIOLATION_CLOSES, n->text, o->step, NULL);
	}
}

/* Does the close say nothing? What the open has undone is as it was, if nobody else writes. */
static bool is_no_close(const struct leat_ofd *o, const struct leat_event *ev)
{
	return o->intact && (!o->undid || ev->length || o->content->old || o->content->writers);
}

static void count_close(struct leat_stream *s, struct leat_ofd *o, const struct leat_event *ev)
{
	struct leat_content *c = o->content;
	struct leat_part *part = leat_content_find_part(c, o->step);

	if (is_no_close(o, ev))
		return;
	c->broken = ev->flags & LEAT_EVF_ABNORMAL;
	/* The step has ended before: no later event will say that this is not all. */
	if (c->broken && o->step >= 0 && leat_step_is_over(&s->steps[o->step]))
		c->lost = o->step;
	if (c->broken)
		return;
	part->closes += !o->intact;
	if (ev->length || (o->exited && !o->killed))
		part->data_closes++;
	else if (o->exited)
		c->broken = true; /* its end was heard of before the close */
	else
		leat_pending_add(s, c, o);
	check_closes(s, o);
}

int leat_fact_close(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o = leat_ofd_find(s, ev->ofd);
	struct leat_step_state *st;
	struct leat_content *c;

	if (!o)
		return -EINVAL;
	c = o->content;
	c->writers--;
	leat_content_find_part(c, o->step)->writers--;
	if (ev->length > c->size_bytes)
		c->size_bytes = ev->length;
	count_close(s, o, ev);
	st = o->step >= 0 ? &s->steps[o->step] : NULL;
	if (st && !--st->writers && leat_step_is_over(st))
		leat_touch_step(s, o->step, false);
	leat_content_touch(s, c);
	leat_versions_untouched(s, c);
	leat_ofd_free(s, o);
	return 0;
}

/* Is it of a process behind the mount whose server has ended? */
static bool is_behind(int node, const struct leat_event *ev)
{
	return !ev->node && node && node == ev->pid;
}

int leat_fact_exit(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o, *next;

	HASH_ITER(hh, s->ofds, o, next)
	{
		if (!o->exited &&
		    ((o->pid == ev->pid && o->node == ev->node) || is_behind(o->node, ev))) {
			o->exited = true;
			o->killed = ev->status < 0;
		}
	}
	leat_pending_exit(s, ev->node, ev->pid, ev->status >= 0);
	if (!ev->node)
		leat_pending_exit_behind(s, ev->pid, ev->status >= 0);
	return ev->code && ev->step >= 0 ? leat_sequences_rank_end(s, ev->step, ev->code - 1) : 0;
}
