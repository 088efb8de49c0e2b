#include "daemon/core/step_state.h"

/* For the table. */
#define WAITING LEAT_RUN_WAITING
#define FOUND LEAT_RUN_FOUND
#define RUNNING LEAT_RUN_RUNNING
#define RESTING LEAT_RUN_RESTING
#define LEFT LEAT_RUN_LEFT
#define ENDED LEAT_RUN_ENDED
#define NEVER LEAT_RUN_STATES

/* A step that cannot be started ends without having begun. */
static const enum leat_run_state next[LEAT_RUN_EVENTS][LEAT_RUN_STATES] = {
	/* from WAITING, FOUND, RUNNING, RESTING, LEFT, ENDED */
	[LEAT_RUN_EVENT_PROCESS] = {FOUND, NEVER, NEVER, NEVER, FOUND, NEVER},
	[LEAT_RUN_EVENT_TAKEN] = {NEVER, RUNNING, NEVER, NEVER, NEVER, NEVER},
	[LEAT_RUN_EVENT_START] = {RUNNING, NEVER, RUNNING, NEVER, RUNNING, RUNNING},
	[LEAT_RUN_EVENT_REST] = {NEVER, NEVER, RESTING, NEVER, NEVER, NEVER},
	[LEAT_RUN_EVENT_LAUNCH] = {NEVER, NEVER, NEVER, RUNNING, NEVER, NEVER},
	[LEAT_RUN_EVENT_END_ONE] = {NEVER, NEVER, RUNNING, RESTING, NEVER, NEVER},
	[LEAT_RUN_EVENT_END_ALL] = {ENDED, LEFT, ENDED, ENDED, NEVER, NEVER},
};

enum leat_run_state leat_run_next(enum leat_run_state state, enum leat_run_event event)
{
	return next[event][state];
}

bool leat_run_is_live(enum leat_run_state state)
{
	return state == FOUND || state == RUNNING || state == RESTING;
}

bool leat_run_may_begin_itself(enum leat_run_state state)
{
	return state == WAITING || state == LEFT;
}

const char *leat_run_state_name(enum leat_run_state state)
{
	static const char *const names[] = {
		[WAITING] = "waiting", [FOUND] = "found", [RUNNING] = "running",
		[RESTING] = "resting", [LEFT] = "left",   [ENDED] = "ended",
	};

	return names[state];
}

const char *leat_run_event_name(enum leat_run_event event)
{
	static const char *const names[] = {
		[LEAT_RUN_EVENT_PROCESS] = "begins with a process",
		[LEAT_RUN_EVENT_TAKEN] = "is announced after its first process",
		[LEAT_RUN_EVENT_START] = "is started",
		[LEAT_RUN_EVENT_REST] = "rests",
		[LEAT_RUN_EVENT_LAUNCH] = "is launched again",
		[LEAT_RUN_EVENT_END_ONE] = "ends with one of its instances",
		[LEAT_RUN_EVENT_END_ALL] = "ends",
	};

	return names[event];
}
