/* From touched names and steps to new states and wake-ups. */
#include "stream/rules/settle.h"
#include "stream/rules/commit.h"
#include "stream/rules/decide.h"
#include "stream/rules/transition.h"
#include "stream/state/names.h"
#include "stream/state/queue.h"
#include "stream/state/waiters.h"

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
	struct leat_waiter *w, *next;

	if (leat_name_set_state(s, n, state)) {
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
		    w->question.call == LEAT_CALL_RELAUNCH)
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
