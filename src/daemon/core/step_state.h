/* Where a step of a run stands: its states, what changes them, and into what. */
#ifndef LEAT_DAEMON_CORE_STEP_STATE_H
#define LEAT_DAEMON_CORE_STEP_STATE_H

#include <stdbool.h>

enum leat_run_state {
	LEAT_RUN_WAITING, /* no instance has begun */
	LEAT_RUN_FOUND,   /* one began with its first process; no STEP_START came for it */
	LEAT_RUN_RUNNING, /* a STEP_START came for what runs */
	LEAT_RUN_RESTING, /* between two launches for versions of its inputs */
	LEAT_RUN_LEFT,    /* one that was found has ended; its next process begins another */
	LEAT_RUN_ENDED,   /* what had a STEP_START has ended: no instance begins by itself */
	LEAT_RUN_STATES,
};

enum leat_run_event {
	LEAT_RUN_EVENT_PROCESS, /* a process of the step connects, and none is expected */
	LEAT_RUN_EVENT_TAKEN,   /* the STEP_START of what was found comes late */
	LEAT_RUN_EVENT_START,   /* STEP_START: an instance begins */
	LEAT_RUN_EVENT_REST,    /* a launch has ended, and there may be another */
	LEAT_RUN_EVENT_LAUNCH,  /* which begins */
	LEAT_RUN_EVENT_END_ONE, /* an instance has ended, others run */
	LEAT_RUN_EVENT_END_ALL, /* none runs any more, or can be started */
	LEAT_RUN_EVENTS
};

/* The state after `event`; LEAT_RUN_STATES: that cannot happen. */
enum leat_run_state leat_run_next(enum leat_run_state state, enum leat_run_event event);

/* Does an instance run, be it between two launches? */
bool leat_run_is_live(enum leat_run_state state);
/* May an instance begin with a process that no STEP_START announced? */
bool leat_run_may_begin_itself(enum leat_run_state state);

/* "resting"; "begins with a process": for a person. */
const char *leat_run_state_name(enum leat_run_state state);
const char *leat_run_event_name(enum leat_run_event event);

#endif
