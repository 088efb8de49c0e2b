#include "driver/step_state.h"

/* For the table. */
#define PENDING LEAT_STEP_PENDING
#define RUNNING LEAT_STEP_RUNNING
#define KILLED LEAT_STEP_KILLED
#define LEAVING LEAT_STEP_LEAVING
#define RETURNED LEAT_STEP_RETURNED
#define RESTING LEAT_STEP_RESTING
#define REAPED LEAT_STEP_REAPED
#define ENDED LEAT_STEP_ENDED
#define NEVER LEAT_STEP_STATES

/* Several processes of a step's actions may fail, each of which has it killed. A step that is
 * pending ends without a launch if no version has come. */
static const enum leat_driver_step_state next[LEAT_STEP_EVENTS][LEAT_STEP_STATES] = {
	/* from PENDING, RUNNING, KILLED, LEAVING, RETURNED, RESTING, REAPED, ENDED */
	[LEAT_STEP_EVENT_LAUNCH] = {RUNNING, NEVER, NEVER, NEVER, NEVER, RUNNING, NEVER, NEVER},
	[LEAT_STEP_EVENT_KILL] = {NEVER, KILLED, KILLED, NEVER, NEVER, NEVER, NEVER, NEVER},
	[LEAT_STEP_EVENT_LEAVE] = {NEVER, LEAVING, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER},
	[LEAT_STEP_EVENT_RETURN] = {NEVER, RETURNED, NEVER, RETURNED, NEVER, NEVER, NEVER, NEVER},
	[LEAT_STEP_EVENT_ANSWERED] = {PENDING, NEVER, NEVER, NEVER, RESTING, RESTING, NEVER, NEVER},
	[LEAT_STEP_EVENT_END] = {REAPED, REAPED, REAPED, REAPED, REAPED, REAPED, NEVER, NEVER},
	[LEAT_STEP_EVENT_LOOK] = {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, ENDED, NEVER},
	[LEAT_STEP_EVENT_REFUSE] = {ENDED, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER},
};

enum leat_driver_step_state leat_driver_step_next(enum leat_driver_step_state state,
						  enum leat_driver_step_event event)
{
	return next[event][state];
}

bool leat_driver_step_runs(enum leat_driver_step_state state)
{
	return state == RUNNING || state == KILLED || state == LEAVING;
}

bool leat_driver_step_rests(enum leat_driver_step_state state)
{
	return state == RETURNED || state == RESTING;
}

bool leat_driver_step_is_over(enum leat_driver_step_state state)
{
	return state == REAPED || state == ENDED;
}

const char *leat_driver_step_state_name(enum leat_driver_step_state state)
{
	static const char *const names[] = {
		[PENDING] = "pending", [RUNNING] = "running",   [KILLED] = "killed",
		[LEAVING] = "leaving", [RETURNED] = "returned", [RESTING] = "resting",
		[REAPED] = "reaped",   [ENDED] = "ended",
	};

	return names[state];
}

const char *leat_driver_step_event_name(enum leat_driver_step_event event)
{
	static const char *const names[] = {
		[LEAT_STEP_EVENT_LAUNCH] = "launched",
		[LEAT_STEP_EVENT_KILL] = "killed",
		[LEAT_STEP_EVENT_LEAVE] = "left by its process",
		[LEAT_STEP_EVENT_RETURN] = "over with a launch",
		[LEAT_STEP_EVENT_ANSWERED] = "reported",
		[LEAT_STEP_EVENT_END] = "ended",
		[LEAT_STEP_EVENT_LOOK] = "looked at",
		[LEAT_STEP_EVENT_REFUSE] = "refused",
	};

	return names[event];
}
