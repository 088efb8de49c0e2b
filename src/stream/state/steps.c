/* Where a step stands. */
#include "stream/state/steps.h"

#include <errno.h>

/* For the table. */
#define COMING LEAT_PHASE_COMING
#define RUNNING LEAT_PHASE_RUNNING
#define RESTING LEAT_PHASE_RESTING
#define OVER LEAT_PHASE_OVER
#define RESTED LEAT_PHASE_RESTED
#define NEVER LEAT_PHASES

/* More instances may start than were expected, and one that could not be started ends without. */
static const enum leat_step_phase next[LEAT_PHASE_EVENTS][LEAT_PHASES] = {
	/* from COMING, RUNNING, RESTING, OVER, RESTED */
	[LEAT_PHASE_EVENT_START] = {RUNNING, RUNNING, NEVER, RUNNING, RUNNING},
	[LEAT_PHASE_EVENT_LAUNCH_OVER] = {NEVER, RESTING, NEVER, NEVER, NEVER},
	[LEAT_PHASE_EVENT_LAUNCH] = {NEVER, NEVER, RUNNING, NEVER, NEVER},
	[LEAT_PHASE_EVENT_END_ONE] = {NEVER, RUNNING, RESTING, NEVER, NEVER},
	[LEAT_PHASE_EVENT_END_LAST] = {COMING, COMING, COMING, NEVER, NEVER},
	[LEAT_PHASE_EVENT_END_ALL] = {OVER, OVER, RESTED, OVER, RESTED},
	[LEAT_PHASE_EVENT_CLOSED] = {OVER, RUNNING, RESTING, OVER, RESTED},
};

enum leat_step_phase leat_phase_next(enum leat_step_phase phase, enum leat_phase_event event)
{
	return next[event][phase];
}

int leat_step_advance(struct leat_step_state *st, enum leat_phase_event event)
{
	enum leat_step_phase phase = leat_phase_next(st->phase, event);

	if (phase == NEVER)
		return -EINVAL;
	st->phase = phase;
	return 0;
}

enum leat_phase_event leat_step_end_event(const struct leat_step_state *st)
{
	if (st->started > st->ended)
		return LEAT_PHASE_EVENT_END_ONE;
	return st->closed || st->started >= st->expected ? LEAT_PHASE_EVENT_END_ALL
							 : LEAT_PHASE_EVENT_END_LAST;
}

bool leat_step_is_running(const struct leat_step_state *st)
{
	return st->phase == RUNNING || st->phase == RESTING;
}

bool leat_step_has_rested(const struct leat_step_state *st)
{
	return st->phase == RESTING || st->phase == RESTED;
}

bool leat_step_is_over(const struct leat_step_state *st)
{
	return st->phase == OVER || st->phase == RESTED;
}

bool leat_step_is_quiet(const struct leat_step_state *st)
{
	return leat_step_is_over(st) && !st->failures && !st->writers;
}

bool leat_producers_are_over(const struct leat_stream *s, const struct leat_file_rule *rule)
{
	for (int step = 0; step < s->n_steps; step++)
		if (leat_steps_has(rule->producers, step) && !leat_step_is_over(&s->steps[step]))
			return false;
	return true;
}
