#include "driver/phase.h"

/* For the table. */
#define LINGERING LEAT_DRIVER_LINGERING
#define FINISHING LEAT_DRIVER_FINISHING
#define SUMMED_UP LEAT_DRIVER_SUMMED_UP
#define OVER LEAT_DRIVER_OVER
#define NEVER LEAT_DRIVER_PHASES

/* A run whose daemon is lost while steps run goes on until they have ended: it is over only after
 * FINISHING. */
static const enum leat_driver_phase next[LEAT_DRIVER_EVENTS][LEAT_DRIVER_PHASES] = {
	/* from STEPS, LINGERING, FINISHING, SUMMED_UP, OVER */
	[LEAT_DRIVER_EVENT_LINGER] = {LINGERING, NEVER, NEVER, NEVER, NEVER},
	[LEAT_DRIVER_EVENT_FINISH] = {FINISHING, FINISHING, NEVER, NEVER, NEVER},
	[LEAT_DRIVER_EVENT_SUM_UP] = {NEVER, NEVER, SUMMED_UP, NEVER, NEVER},
	[LEAT_DRIVER_EVENT_END] = {NEVER, NEVER, OVER, NEVER, NEVER},
};

enum leat_driver_phase leat_driver_phase_next(enum leat_driver_phase phase,
					      enum leat_driver_phase_event event)
{
	return next[event][phase];
}

const char *leat_driver_phase_name(enum leat_driver_phase phase)
{
	static const char *const names[] = {
		[LEAT_DRIVER_STEPS] = "running steps",
		[LINGERING] = "waiting for processes",
		[FINISHING] = "finishing",
		[SUMMED_UP] = "summed up",
		[OVER] = "over",
	};

	return names[phase];
}

const char *leat_driver_phase_event_name(enum leat_driver_phase_event event)
{
	static const char *const names[] = {
		[LEAT_DRIVER_EVENT_LINGER] = "left with processes",
		[LEAT_DRIVER_EVENT_FINISH] = "finished",
		[LEAT_DRIVER_EVENT_SUM_UP] = "summed up",
		[LEAT_DRIVER_EVENT_END] = "ended",
	};

	return names[event];
}
