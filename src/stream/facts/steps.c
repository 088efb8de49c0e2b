/* Beginning and end of steps. */
#include "stream/facts/steps.h"
#include "stream/conflicts/turns.h"
#include "stream/conflicts/directories.h"
#include "stream/flow/versions.h"
#include "stream/state/queue.h"
#include "stream/state/steps.h"

#include <errno.h>

int leat_step_start(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_step_state *st = &s->steps[ev->step];
	int rc = leat_step_advance(st, LEAT_PHASE_EVENT_START);

	if (rc)
		return rc;
	st->started++;
	if (ev->code > st->expected)
		st->expected = ev->code;
	return 0;
}

static void step_over(struct leat_stream *s, int step)
{
	leat_versions_step_over(s, step);
	leat_directories_step_over(s, step);
	leat_turn_step_over(s, step);
}

/* A step that could not even be started ends in failure without a start. */
int leat_step_end(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_step_state *st = &s->steps[ev->step];
	int rc;

	if (st->ended == st->started) {
		if (!ev->status)
			return -EINVAL;
		st->started++;
	}
	st->ended++;
	rc = leat_step_advance(st, leat_step_end_event(st));
	if (rc)
		return rc;
	if (ev->status) {
		st->failures++;
		if (!st->why && ev->name) {
			st->why = leat_heap_copy(ev->name);
			if (!st->why)
				return -ENOMEM;
		}
	}
	if (ev->status || st->ends_count || leat_step_is_over(st))
		leat_touch_step(s, ev->step, true);
	if (leat_step_is_over(st))
		step_over(s, ev->step);
	return 0;
}

int leat_step_closed(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_step_state *st = &s->steps[ev->step];
	int rc = leat_step_advance(st, LEAT_PHASE_EVENT_CLOSED);

	if (rc)
		return rc;
	st->closed = true;
	leat_touch_step(s, ev->step, true);
	if (leat_step_is_over(st))
		step_over(s, ev->step);
	return 0;
}
