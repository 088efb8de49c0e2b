/* Where a step stands, as who starts it sees it: its states, what changes them, and into what. */
#ifndef LEAT_DRIVER_STEP_STATE_H
#define LEAT_DRIVER_STEP_STATE_H

#include <stdbool.h>

enum leat_driver_step_state {
	LEAT_STEP_PENDING, /* it has not been started, which may wait for inputs, capacity or its
			      turn */
	LEAT_STEP_RUNNING,
	LEAT_STEP_KILLED,   /* its actions have failed: its process is killed, and not reaped yet */
	LEAT_STEP_LEAVING,  /* its process has ended, and its actions are called */
	LEAT_STEP_RETURNED, /* a launch has ended well, which the daemon does not know yet */
	LEAT_STEP_RESTING,  /* it knows; there may be another launch, for a further version */
	LEAT_STEP_REAPED,   /* it has ended, and whether well is not looked at yet */
	LEAT_STEP_ENDED,    /* or will never start */
	LEAT_STEP_STATES,
};

enum leat_driver_step_event {
	LEAT_STEP_EVENT_LAUNCH,   /* its process is there */
	LEAT_STEP_EVENT_KILL,     /* because its actions have failed */
	LEAT_STEP_EVENT_LEAVE,    /* its process has ended, and its actions are to hear of it */
	LEAT_STEP_EVENT_RETURN,   /* its process has ended, and it may be launched again */
	LEAT_STEP_EVENT_ANSWERED, /* the daemon was asked whether it is */
	LEAT_STEP_EVENT_END,      /* no more launches */
	LEAT_STEP_EVENT_LOOK,     /* at whether it ended well */
	LEAT_STEP_EVENT_REFUSE,   /* it is not to run at all */
	LEAT_STEP_EVENTS
};

/* The state after `event`; LEAT_STEP_STATES: that cannot happen. */
enum leat_driver_step_state leat_driver_step_next(enum leat_driver_step_state state,
						  enum leat_driver_step_event event);

/* Does a launch of it go on, its actions included? */
bool leat_driver_step_runs(enum leat_driver_step_state state);
/* Is it between two launches? */
bool leat_driver_step_rests(enum leat_driver_step_state state);
/* Is there nothing more to come of it? */
bool leat_driver_step_is_over(enum leat_driver_step_state state);

/* "running"; "launched": for a person. */
const char *leat_driver_step_state_name(enum leat_driver_step_state state);
const char *leat_driver_step_event_name(enum leat_driver_step_event event);

#endif
