/* How far a whole run is, as the daemon sees it: its phases, what changes them, and into what. */
#ifndef LEAT_DAEMON_CORE_PHASE_H
#define LEAT_DAEMON_CORE_PHASE_H

#include <stdbool.h>

enum leat_daemon_phase {
	LEAT_DAEMON_STEPS,       /* steps run, or may start */
	LEAT_DAEMON_SAVING,      /* all steps have ended, and what is left is brought to disk */
	LEAT_DAEMON_ABORTING,    /* the run has failed: only what is committed is brought to disk */
	LEAT_DAEMON_INTERRUPTED, /* it was saving, and was aborted, or the other way round */
	LEAT_DAEMON_SAVED,       /* over: all is on disk */
	LEAT_DAEMON_ABORTED,     /* over: what is committed is on disk */
	LEAT_DAEMON_PHASES
};

enum leat_daemon_phase_event {
	LEAT_DAEMON_EVENT_FINISH, /* the driver wants it to end, and all files are closed */
	LEAT_DAEMON_EVENT_ABORT,  /* it is not to go on */
	LEAT_DAEMON_EVENT_DONE,   /* nothing is on its way to disk any more */
	LEAT_DAEMON_EVENTS
};

/* The phase after `event`, which is `phase` if the event comes too late to change anything;
 * LEAT_DAEMON_PHASES: that cannot happen. */
enum leat_daemon_phase leat_daemon_phase_next(enum leat_daemon_phase phase,
					      enum leat_daemon_phase_event event);

/* Did the driver let it end, so that all files are as they are to be? */
bool leat_daemon_phase_saves(enum leat_daemon_phase phase);
/* Does it only wait for files on their way to disk? */
bool leat_daemon_phase_is_ending(enum leat_daemon_phase phase);

/* "saving"; "aborted": for a person. */
const char *leat_daemon_phase_name(enum leat_daemon_phase phase);
const char *leat_daemon_phase_event_name(enum leat_daemon_phase_event event);

#endif
