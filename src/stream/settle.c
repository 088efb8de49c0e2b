/* From touched names and steps to new states and wake-ups. */
#include "stream/versions.h"

#include "base/str.h"

#include <stdlib.h>

void leat_touch(struct leat_stream *s, struct leat_name_state *n)
{
	if (n->dirty)
		return;
	n->dirty = true;
	n->dirty_next = NULL;
	if (s->dirty_tail)
		s->dirty_tail->dirty_next = n;
	else
		s->dirty = n;
	s->dirty_tail = n;
}

void leat_touch_step(struct leat_stream *s, int step, bool names)
{
	struct leat_step_state *st = &s->steps[step];

	st->dirty_names = st->dirty_names || names;
	if (st->dirty)
		return;
	st->dirty = true;
	st->dirty_next = s->dirty_step;
	s->dirty_step = step;
}

void leat_touch_links(struct leat_stream *s, const struct leat_link *list)
{
	const struct leat_link *link;

	LL_FOREACH(list, link)
	{
		leat_touch(s, link->name);
	}
}

static void announce(struct leat_stream *s, struct leat_name_state *n)
{
	if (n->state == LEAT_FILE_FAILED && s->ops.failed) {
		char *why = leat_commit_why(s, n);

		s->ops.failed(s->ctx, n->text, why ? why : "out of memory");
		free(why);
	}
	if (s->ops.state)
		s->ops.state(s->ctx, n->text, n->state);
}

void leat_name_reset(struct leat_stream *s, struct leat_name_state *n, enum leat_file_state state)
{
	n->state = state;
	announce(s, n);
	leat_versions_changed(s, n);
}

/* Name the file, and the step that made it. */
static void report_one_more(struct leat_stream *s, const struct leat_name_state *dir,
			    const struct leat_name_state *n)
{
	char *what =
		leat_strf("given %s, one file more than the number that completes it,", n->text);

	leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, dir->text, n->content->creator,
			      what ? what
				   : "given one file more than the number that completes it");
	free(what);
}

/* A directory that was complete gets one file more: whoever listed it missed it. */
static void check_complete(struct leat_stream *s, const struct leat_name_state *n)
{
	const struct leat_name_state *dir;

	if (n->state != LEAT_FILE_COMMITTED || leat_name_is_dir(n) || !n->content)
		return;
	for (dir = n->parent; dir; dir = dir->parent)
		if (dir->governed && dir->rule->n_files && dir->state == LEAT_FILE_COMMITTED &&
		    dir->committed_below >= dir->rule->n_files && !n->content->old)
			report_one_more(s, dir, n);
}

static void wake_name(struct leat_stream *s, struct leat_name_state *n)
{
	if (n->wake)
		return;
	n->wake = true;
	n->wake_next = NULL;
	if (s->wake_tail)
		s->wake_tail->wake_next = n;
	else
		s->wake = n;
	s->wake_tail = n;
}

static void unblock(struct leat_stream *s, struct leat_waiter *w)
{
	if (w->blocker.name)
		DL_DELETE2(w->blocker.name->blocked, w, b_prev, b_next);
	else if (w->blocker.step >= 0)
		DL_DELETE2(s->steps[w->blocker.step].blocked, w, b_prev, b_next);
	w->blocker = (struct leat_blocker){.step = -1};
}

void leat_waiter_free(struct leat_stream *s, struct leat_waiter *w)
{
	unblock(s, w);
	DL_DELETE(w->on->waiters, w);
	HASH_DEL(s->waiters, w);
	leat_heap_free(w);
}

void leat_waiter_block(struct leat_stream *s, struct leat_waiter *w, const struct leat_blocker *b)
{
	/* Moving within a list would let a walk over it meet `w` again. */
	if (w->blocker.name == b->name && w->blocker.step == b->step)
		return;
	unblock(s, w);
	w->blocker = *b;
	if (b->name)
		DL_APPEND2(b->name->blocked, w, b_prev, b_next);
	else if (b->step >= 0)
		DL_APPEND2(s->steps[b->step].blocked, w, b_prev, b_next);
}

void leat_waiter_wake(struct leat_stream *s, struct leat_waiter *w)
{
	if (w->woken)
		return;
	unblock(s, w);
	w->woken = true;
	wake_name(s, w->on);
}

/* Look again at one waiting call: wake it, or note what it waits for now. */
static void recheck(struct leat_stream *s, struct leat_waiter *w)
{
	struct leat_blocker blocker = {.step = -1};

	if (w->woken)
		return;
	if (leat_decide(s, w->on, &w->question, &blocker) == LEAT_WAIT) {
		leat_waiter_block(s, w, &blocker);
		return;
	}
	leat_waiter_wake(s, w);
}

static void settle_name(struct leat_stream *s, struct leat_name_state *n)
{
	enum leat_file_state state = leat_commit_evaluate(s, n);
	bool changed = state != n->state;
	struct leat_waiter *w, *next;

	n->state = state;
	if (changed) {
		announce(s, n);
		check_complete(s, n);
		leat_versions_changed(s, n);
		leat_touch_links(s, n->dependents);
		s->broad = s->broad || n->state == LEAT_FILE_FAILED || n->rule->n_files;
	}
	leat_name_account(s, n);
	DL_FOREACH_SAFE(n->waiters, w, next)
	{
		recheck(s, w);
	}
	DL_FOREACH_SAFE2(n->blocked, w, next, b_next)
	{
		recheck(s, w);
	}
}

static void settle_step(struct leat_stream *s, struct leat_step_state *st)
{
	struct leat_waiter *w, *next;

	if (st->dirty_names)
		leat_touch_links(s, st->names);
	st->dirty_names = false;
	s->broad = s->broad || st->failures;
	leat_touch_links(s, st->dependents);
	DL_FOREACH_SAFE2(st->blocked, w, next, b_next)
	{
		recheck(s, w);
	}
}

static void send_wakes(struct leat_stream *s)
{
	while (s->wake) {
		struct leat_name_state *n = s->wake;

		s->wake = n->wake_next;
		n->wake = false;
		if (s->ops.wake)
			s->ops.wake(s->ctx, n->text);
	}
	s->wake_tail = NULL;
}

/* A call that needs several names waits for the first that is not decided, but
 * fails with any of them, and goes on when a directory above is complete. */
static void recheck_broad(struct leat_stream *s)
{
	struct leat_waiter *w, *next;

	s->broad = false;
	HASH_ITER(hh, s->waiters, w, next)
	{
		if (w->question.call == LEAT_CALL_LIST || w->question.call == LEAT_CALL_LAUNCH ||
		    w->question.call == LEAT_CALL_MORE)
			recheck(s, w);
	}
}

void leat_settle(struct leat_stream *s)
{
	while (s->dirty || s->dirty_step >= 0 || s->broad) {
		if (s->dirty_step >= 0) {
			struct leat_step_state *st = &s->steps[s->dirty_step];

			s->dirty_step = st->dirty_next;
			st->dirty = false;
			settle_step(s, st);
		} else if (!s->dirty) {
			recheck_broad(s);
		} else {
			struct leat_name_state *n = s->dirty;

			s->dirty = n->dirty_next;
			if (!s->dirty)
				s->dirty_tail = NULL;
			n->dirty = false;
			settle_name(s, n);
		}
	}
	send_wakes(s);
}
