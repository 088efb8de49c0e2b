/* What the files of the driver share. */
#ifndef LEAT_DRIVER_INTERNAL_H
#define LEAT_DRIVER_INTERNAL_H

#include "driver/console.h"
#include "driver/driver.h"
#include "driver/process.h"

#include <uv.h>

enum {
	LEAT_TICK_MS = 50,         /* samples, deadlines, launches of staged steps */
	LEAT_STOP_GRACE_MS = 5000, /* from a failure to SIGTERM, and from there to SIGKILL */
	LEAT_LINGER_MS = 10000,    /* for processes that outlive their step and write nothing */
	LEAT_EXIT_OWN_FAILURE = 125,
};

enum leat_step_state {
	LEAT_STEP_PENDING, /* a staged step whose inputs are not final, or not its turn yet */
	LEAT_STEP_RUNNING,
	LEAT_STEP_ENDED, /* or will never start */
};

enum leat_stop {
	LEAT_STOP_NONE,
	LEAT_STOP_WAITING, /* a step has failed, or a signal came: the others may end */
	LEAT_STOP_TERM,    /* they were sent SIGTERM */
	LEAT_STOP_KILL,
};

struct leat_driver;

/* One output of one step on its way to the console. */
struct leat_pump {
	uv_poll_t poll;
	struct leat_driver *driver;
	bool open;
	struct leat_stream_out text;
};

struct leat_run_step {
	struct leat_process process;
	enum leat_step_state state;
	bool just_ended; /* reaped, failure not yet looked at */
	struct leat_pump out;
	struct leat_pump err;
};

struct leat_driver {
	const struct leat_driver_config *config;
	const struct leat_workflow *wf;
	struct leat_result *result;
	struct leat_run_step *steps; /* owned */
	struct leat_console console;
	uv_loop_t loop;
	uv_timer_t tick;
	uv_poll_t control_poll;
	uv_signal_t signals[4];
	uint64_t last_progress_ns;
	int exit_status; /* of the first thing that went wrong; 0: nothing has */
	int interrupted; /* signal that ended the run, 0 = none */
	char why[128];   /* what that first thing was, in words */
	enum leat_stop stop;
	uint64_t stop_at_ns; /* when the next stage of stopping is due */
	uint64_t linger_ns;  /* since when all steps have ended; 0: they have not */
	bool linger_told;
	bool control_lost; /* the daemon is gone */
	bool finishing;    /* FINISH was sent */
	bool summed_up;    /* the daemon has told what became of all files */
	bool over;
};

/* steps.c */

/* Start whatever can start now. */
void leat_driver_start_steps(struct leat_driver *d);
/* Reap every child that has ended. */
void leat_driver_reap(struct leat_driver *d);
/* A number of steps in that state. */
size_t leat_driver_count(const struct leat_driver *d, enum leat_step_state state);

/* The step will not run, for the reason given: everybody who waits for its files learns it. */
void leat_driver_refuse(struct leat_driver *d, size_t step, const char *why);

/* resumed.c */

/* Before anything starts: begin the record, and end the steps that need not run. */
void leat_driver_begin_record(struct leat_driver *d);
/* Record the steps that have become complete. */
void leat_driver_record_ends(struct leat_driver *d);
/* The run is over: record what became of all steps. */
void leat_driver_record_outcome(struct leat_driver *d);

/* outcome.c */

/* What the daemon's summary says of steps and files goes to the result. */
void leat_driver_take_summary(struct leat_driver *d, const char *json);
/* Without one: outputs of steps that are not known to be whole. */
void leat_driver_count_losses(struct leat_driver *d);

/* stop.c */

/* Remember the first failure, `why` in words, and let the run come to its end. */
void leat_driver_fail(struct leat_driver *d, int exit_status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a step that failed: the others go on if the user asked for it. */
void leat_driver_fail_step(struct leat_driver *d, int exit_status, size_t step);
/* The daemon did not answer: it has ended, and what it held is lost. */
void leat_driver_lose_daemon(struct leat_driver *d);
/* A signal for leat: pass it on, and stop. */
void leat_driver_interrupt(struct leat_driver *d, int signo);
/* Send the steps what is due. */
void leat_driver_stop_tick(struct leat_driver *d);
/* All steps have ended: true once no process of theirs is left; ends those that
 * stay but write nothing. */
bool leat_driver_all_gone(struct leat_driver *d);
/* Kill and reap everything at once. */
void leat_driver_kill_all(struct leat_driver *d);

/* leftover.c */

/* Processes of steps, whoever their parent is now. */
struct leat_leftover {
	size_t n;
	bool writing;    /* some has a file of the run open for writing */
	char names[200]; /* "sleep (pid 12), cat (pid 13)" */
};

/* Look for them; sends `signo` to each if it is not 0. */
void leat_leftover_find(const struct leat_driver *d, int signo, struct leat_leftover *out);

/* pump.c */

/* Read both outputs of a step from now on. 0 or -errno. */
int leat_pump_start(struct leat_driver *d, size_t step);
/* Take what is there, print it, and stop reading. */
void leat_pump_stop(struct leat_driver *d, size_t step);

/* machine.c */

/* CPUs this process may use; 0: not known. */
unsigned leat_count_cpus(void);
/* Threads on the machine that want to run now, the caller not counted, at least
 * 1; 0 where that says nothing about the CPUs this process may use. */
unsigned leat_count_runnable(void);

#endif
