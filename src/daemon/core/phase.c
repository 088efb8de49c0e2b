#include "daemon/core/phase.h"

/* For the table. */
#define STEPS LEAT_DAEMON_STEPS
#define SAVING LEAT_DAEMON_SAVING
#define ABORTING LEAT_DAEMON_ABORTING
#define INTERRUPTED LEAT_DAEMON_INTERRUPTED
#define SAVED LEAT_DAEMON_SAVED
#define ABORTED LEAT_DAEMON_ABORTED
#define NEVER LEAT_DAEMON_PHASES

/* A run that was aborted may still be told to finish, by a driver that was about to: then files are
 * saved as if it had ended well, but for those of the steps that were aborted. */
static const enum leat_daemon_phase next[LEAT_DAEMON_EVENTS][LEAT_DAEMON_PHASES] = {
	/* from STEPS, SAVING, ABORTING, INTERRUPTED, SAVED, ABORTED */
	[LEAT_DAEMON_EVENT_FINISH] = {SAVING, SAVING, INTERRUPTED, INTERRUPTED, SAVED, ABORTED},
	[LEAT_DAEMON_EVENT_ABORT] = {ABORTING, INTERRUPTED, ABORTING, INTERRUPTED, SAVED, ABORTED},
	[LEAT_DAEMON_EVENT_DONE] = {NEVER, SAVED, ABORTED, SAVED, NEVER, NEVER},
};

enum leat_daemon_phase leat_daemon_phase_next(enum leat_daemon_phase phase,
					      enum leat_daemon_phase_event event)
{
	return next[event][phase];
}

bool leat_daemon_phase_saves(enum leat_daemon_phase phase)
{
	return phase == SAVING || phase == INTERRUPTED || phase == SAVED;
}

bool leat_daemon_phase_is_ending(enum leat_daemon_phase phase)
{
	return phase == SAVING || phase == ABORTING || phase == INTERRUPTED;
}

const char *leat_daemon_phase_name(enum leat_daemon_phase phase)
{
	static const char *const names[] = {
		[STEPS] = "running steps",        [SAVING] = "saving files",
		[ABORTING] = "being aborted",     [INTERRUPTED] = "saving files of an aborted run",
		[SAVED] = "over, with all saved", [ABORTED] = "over, aborted",
	};

	return names[phase];
}

const char *leat_daemon_phase_event_name(enum leat_daemon_phase_event event)
{
	static const char *const names[] = {
		[LEAT_DAEMON_EVENT_FINISH] = "is finished",
		[LEAT_DAEMON_EVENT_ABORT] = "is aborted",
		[LEAT_DAEMON_EVENT_DONE] = "has saved its files",
	};

	return names[event];
}
