/* How far a whole run is, as who starts its steps sees it: its phases, what changes them, and into
 * what. */
#ifndef LEAT_DRIVER_PHASE_H
#define LEAT_DRIVER_PHASE_H

enum leat_driver_phase {
	LEAT_DRIVER_STEPS,     /* steps are started, and run */
	LEAT_DRIVER_LINGERING, /* all have ended, but for processes that they have left behind */
	LEAT_DRIVER_FINISHING, /* the daemon, if there is one, got FINISH and makes files permanent
				*/
	LEAT_DRIVER_SUMMED_UP, /* over: the daemon has sent the summary of all files */
	LEAT_DRIVER_OVER,      /* over without that: there is no daemon, or none any more */
	LEAT_DRIVER_PHASES
};

enum leat_driver_phase_event {
	LEAT_DRIVER_EVENT_LINGER,
	LEAT_DRIVER_EVENT_FINISH,
	LEAT_DRIVER_EVENT_SUM_UP,
	LEAT_DRIVER_EVENT_END,
	LEAT_DRIVER_EVENTS
};

/* The phase after `event`; LEAT_DRIVER_PHASES: that cannot happen. */
enum leat_driver_phase leat_driver_phase_next(enum leat_driver_phase phase,
					      enum leat_driver_phase_event event);

/* "finishing"; "ended": for a person. */
const char *leat_driver_phase_name(enum leat_driver_phase phase);
const char *leat_driver_phase_event_name(enum leat_driver_phase_event event);

#endif
