/* Where a step stands: its phases (enum leat_step_phase), what changes them, and into what. */
#ifndef LEAT_STREAM_STATE_STEPS_H
#define LEAT_STREAM_STATE_STEPS_H

#include "stream/state/state.h"

enum leat_phase_event {
	LEAT_PHASE_EVENT_START,       /* an instance begins */
	LEAT_PHASE_EVENT_LAUNCH_OVER, /* a launch has ended, and its instance has not */
	LEAT_PHASE_EVENT_LAUNCH,      /* the next begins */
	LEAT_PHASE_EVENT_END_ONE,     /* an instance has ended, others run */
	LEAT_PHASE_EVENT_END_LAST,    /* the last that ran has, others are to start */
	LEAT_PHASE_EVENT_END_ALL,     /* and none is */
	LEAT_PHASE_EVENT_CLOSED,      /* no more will start */
	LEAT_PHASE_EVENTS
};

/* The phase after `event`, which an event that begins or ends an instance is by what is counted
 * with it; LEAT_PHASES: that cannot happen. */
enum leat_step_phase leat_phase_next(enum leat_step_phase phase, enum leat_phase_event event);

/* Is that possible now? Then the step has gone on to the next phase. 0 or -EINVAL. */
int leat_step_advance(struct leat_step_state *st, enum leat_phase_event event);
/* Which event the end of an instance was, which is counted already. */
enum leat_phase_event leat_step_end_event(const struct leat_step_state *st);

/* True if some of its instances has begun and not ended, be it between two launches. */
bool leat_step_is_running(const struct leat_step_state *st);
/* True if its launch has ended, and no other has begun: none of its ranks is there. */
bool leat_step_has_rested(const struct leat_step_state *st);
/* True if all its instances ended (well or not) and none will start. */
bool leat_step_is_over(const struct leat_step_state *st);
/* True if it is over, did not fail and none of its processes holds a file open for writing. */
bool leat_step_is_quiet(const struct leat_step_state *st);
/* True if all the steps that produce what `rule` governs are over. */
bool leat_producers_are_over(const struct leat_stream *s, const struct leat_file_rule *rule);

#endif
