/* What the files of the driver share. */
#ifndef LEAT_DRIVER_INTERNAL_H
#define LEAT_DRIVER_INTERNAL_H

#include "base/oom.h"
#include "driver/console.h"
#include "driver/driver.h"
#include "driver/kept.h"
#include "driver/phase.h"
#include "driver/process.h"
#include "driver/step_state.h"

#include <sched.h>
#include <uv.h>

enum {
	LEAT_TICK_MS = 50,         /* samples, deadlines, launches of staged steps */
	LEAT_SPACE_MS = 5,         /* launches of instances that wait for others to rest or wait */
	LEAT_STOP_GRACE_MS = 5000, /* from a failure to SIGTERM, and from there to SIGKILL */
	LEAT_LINGER_MS = 10000,    /* for processes that outlive their step and write nothing */
	LEAT_EXIT_OWN_FAILURE = 125,
};

enum leat_stop {
	LEAT_STOP_NONE,
	LEAT_STOP_WAITING, /* a step has failed, or a signal came: the others may end */
	LEAT_STOP_TERM,    /* they were sent SIGTERM */
	LEAT_STOP_KILL,
};

struct leat_driver;

struct leat_driver_actor;
struct leat_schedule;

/* Whether the actions of a step have been called for its launch. */
enum leat_acted { LEAT_ACTED_NOT, LEAT_ACTED_CALLED, LEAT_ACTED_DONE };

/* Whether the daemon is to be asked for a version that the step can be launched for. */
enum leat_more {
	LEAT_MORE_ASK,  /* as nobody has */
	LEAT_MORE_WAIT, /* there was none */
	LEAT_MORE_LOOK, /* there may be one now */
};

/* One output of one step on its way to the console. */
struct leat_pump {
	uv_poll_t *poll; /* NULL: not open; owned by the loop until it has closed it */
	struct leat_driver *driver;
	size_t step;
	int *fd; /* the pipe; closed at its end */
	struct leat_stream_out text;
};

struct leat_run_step {
	struct leat_driver_process process;
	enum leat_driver_step_state state;
	enum leat_more more;
	char *file; /* which the launch is for; owned, NULL: none in particular */
	enum leat_acted acted;
	int left;        /* with that status, if it is leaving */
	cpu_set_t *cpus; /* that it runs on; owned, NULL: it is not pinned */
	struct leat_pump out;
	struct leat_pump err;
	struct leat_kept printed; /* by it, its instances and actions */
};

/* The CPUs that steps can be pinned to. */
struct leat_pin {
	unsigned *cpus;             /* owned; their numbers, ascending */
	struct leat_pin_load *load; /* owned; of each */
	size_t n;
	size_t set_size; /* bytes of a cpu_set_t for them */
	bool reported;   /* that there are too few */
};

/* Whether a step may start. */
enum leat_turn {
	LEAT_TURN_NOW,
	LEAT_TURN_LATER,
	LEAT_TURN_NO_MORE, /* no version will come: there is nothing to launch it for */
	LEAT_TURN_NEVER,   /* something has failed */
	LEAT_TURN_LOST,    /* the daemon, which would know, is gone */
};

/* What the processes of actions tell whoever runs the steps. */
struct leat_driver_events {
	/* The actions for the end of the step's process have been called. */
	void (*left)(struct leat_driver *d, size_t step);
	/* They have failed, and so does the step; `why` in words. */
	void (*actions_failed)(struct leat_driver *d, size_t step, const char *why);
	/* Something may start, or end, now. */
	void (*changed)(struct leat_driver *d);
};

struct leat_cpu_time {
	uint64_t all_ns, used_ns, own_ns;
};

struct leat_driver {
	const struct leat_driver_events *events;
	const struct leat_driver_config *config;
	const struct leat_workflow *wf;
	struct leat_result *result;
	struct leat_run_step *steps;      /* owned */
	struct leat_driver_actor *actors; /* owned */
	struct leat_console console;
	uv_loop_t loop;
	uv_timer_t tick;
	uv_timer_t space_timer; /* runs while `crowded` */
	uv_poll_t control_poll;
	uv_signal_t signals[5];
	uint64_t last_progress_ns;
	int exit_status; /* of the first thing that went wrong; 0: nothing has */
	int interrupted; /* signal that ended the run, 0 = none */
	char why[128];   /* what that first thing was, in words */
	enum leat_stop stop;
	uint64_t stop_at_ns; /* when the next stage of stopping is due */
	uint64_t linger_ns;  /* since when the phase is LEAT_DRIVER_LINGERING */
	bool linger_reported;
	bool control_lost; /* the daemon is gone */
	struct leat_oom oom;
	enum leat_driver_phase phase;
	bool look;      /* some step is to look again */
	size_t n_free;  /* see leat_launch_free */
	bool announced; /* the daemon knows which steps are staged */
	bool crowded;   /* an instance could be launched but for want of it */
	struct leat_pin pin;
	struct leat_schedule *schedule; /* owned; NULL: steps start as soon as they can */
};

/* step.c */

/* The step goes on to its next state; if there is none, that is reported as a bug. */
void leat_driver_advance(struct leat_driver *d, size_t step, enum leat_driver_step_event event);
/* The whole run goes on to its next phase; if there is none, that is reported as a bug. */
void leat_driver_go_on(struct leat_driver *d, enum leat_driver_phase_event event);
/* A number of steps in such a state. */
size_t leat_driver_count(const struct leat_driver *d, bool (*is)(enum leat_driver_step_state));
/* Does it run, and not wait for others' files? Who waits is no load, and must not keep those from
 * running. */
bool leat_driver_is_busy(const struct leat_driver *d, size_t step);
/* Make the directory of an instance, if it has one. 0 or -errno. */
int leat_driver_make_dir(const struct leat_driver *d, size_t step);

/* turn.c */

/* May the step start now? `why` not, in words, if it is LEAT_TURN_NEVER. */
enum leat_turn leat_driver_turn(struct leat_driver *d, size_t step, char *why, size_t why_size);

/* run.c */

/* What to do after anything has changed. */
void leat_driver_look_around(struct leat_driver *d);

/* steps.c */

/* Start whatever can start now. */
void leat_driver_start_steps(struct leat_driver *d);
/* Read the step's counters. */
void leat_driver_note_counters(struct leat_driver *d, size_t step);
/* Reap every child that has ended. */
void leat_driver_reap(struct leat_driver *d);

/* The step will not run, for the reason given: everybody who waits for its files learns it. */
void leat_driver_refuse(struct leat_driver *d, size_t step, const char *why);

/* The actions for the end of the step's process have been called. */
void leat_driver_left(struct leat_driver *d, size_t step);
/* They have failed, and so does the step; `why` in words. */
void leat_driver_actions_failed(struct leat_driver *d, size_t step, const char *why);

/* pin.c */

/* 0 or -errno; nothing is done without --pin, here and below. */
int leat_pin_init(struct leat_driver *d);
void leat_pin_release(struct leat_driver *d);
/* Choose CPUs for a launch of the step, whose process waits to be released. What cannot be done is
 * told, and the step runs on any. */
void leat_pin_step(struct leat_driver *d, size_t step);

/* launch.c */

/* What stands for the file of a launch in a step's arguments. */
#define LEAT_LAUNCH_FILENAME "{filename}"

/* Is it to be launched for versions that are there, rather than at once? */
bool leat_launch_waits(const struct leat_step *step);
/* May there be a further launch when one has ended well? */
bool leat_launch_may_rest(const struct leat_step *step);
/* May it be launched again, or for the first time? 0, -EAGAIN, -ENOENT never, else -errno. The
 * file that the launch is for is noted. */
int leat_launch_ask(struct leat_driver *d, size_t step);
/* The step's arguments, "{filename}" replaced by `file`, or, of a step that is launched for none in
 * particular (NULL), by its first input; NULL: out of memory. leat_words_free. */
char **leat_launch_argv(const struct leat_step *step, const char *file);
/* So many instances of ensembles run at once at most, those that wait not counted. */
size_t leat_launch_most(const struct leat_driver_config *config, unsigned cpus);
/* So many instances of ensembles may start now, beside the steps that run and do not wait. */
size_t leat_launch_free(const struct leat_driver *d);

/* schedule.c: where the workflow says what steps need of the machine; else nothing is done */

/* 0 or -errno, which has been logged unless it is -ENOMEM. */
int leat_schedule_init(struct leat_driver *d);
void leat_schedule_release(struct leat_driver *d);
bool leat_schedule_is_used(const struct leat_driver *d);
/* All steps that are pending will come. */
void leat_schedule_begin(struct leat_driver *d);
/* Does it have to wait for the ends of others, as it is an I/O step? */
bool leat_schedule_is_early(struct leat_driver *d, size_t step);
/* Is capacity the only thing that it waits for? */
bool leat_schedule_is_queued(const struct leat_driver *d, size_t step);
/* Is there capacity for it? LEAT_TURN_NOW: it has it until it ends; LEAT_TURN_LATER;
 * LEAT_TURN_NEVER: out of memory. */
enum leat_turn leat_schedule_ask(struct leat_driver *d, size_t step);
/* Its process was started. */
void leat_schedule_started(struct leat_driver *d, size_t step);
/* Its counters have been read: count what it has moved. Before the end of its process is taken from
 * the kernel, too. */
void leat_schedule_look(struct leat_driver *d, size_t step);
/* Count what the daemon has brought to disk. */
void leat_schedule_look_at_daemon(struct leat_driver *d);
/* A launch of it has ended, or will never be; when its state says so already. */
void leat_schedule_ended(struct leat_driver *d, size_t step, bool failed);
/* Look which steps wait, and which go on. True if any has changed that. */
bool leat_schedule_watch(struct leat_driver *d);
/* All have ended: what was learned goes to the result. 0 or -ENOMEM. */
int leat_schedule_report(struct leat_driver *d);

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

/* What the step, which has failed, has printed stays on disk; its name is in the result. */
void leat_driver_keep_output(struct leat_driver *d, size_t step);
/* The same for all that have failed: their processes are gone now. */
void leat_driver_keep_outputs(struct leat_driver *d);
/* What the last run kept is of no account any more. */
void leat_driver_forget_outputs(struct leat_driver *d);

/* unmade.c */

/* On plain files: a step has ended; which outputs that it spells out are not there? */
void leat_driver_note_unmade(struct leat_driver *d, size_t step);
/* Say what was not made, and let the run fail if that is an error. */
void leat_driver_report_unmade(struct leat_driver *d);

/* failure.c */

/* Remember the first failure, `why` in words, and let the run come to its end. */
void leat_driver_fail(struct leat_driver *d, int exit_status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a step that failed: the others go on if the user asked for it. */
void leat_driver_fail_step(struct leat_driver *d, int exit_status, size_t step);
/* The daemon did not answer: it has ended, and what it held is lost. */
void leat_driver_lose_daemon(struct leat_driver *d);

/* stop.c */

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
/* Take what is there now. */
void leat_pump_drain(struct leat_driver *d, size_t step);
/* Take what is there, print it, and stop reading. */
void leat_pump_stop(struct leat_driver *d, size_t step);
/* The same for one pipe *fd of something that runs for `step`. */
int leat_pump_open(struct leat_driver *d, struct leat_pump *p, int *fd, size_t step,
		   bool to_stderr);
void leat_pump_close(struct leat_pump *p);

/* machine.c */

/* CPUs this process may run on: their numbers in ascending order, at least one; the caller frees
 * them. 0 or -errno. */
int leat_read_cpus(unsigned **cpus, size_t *n);
/* "0-3,8"; the caller frees it. NULL when out of memory. */
char *leat_cpus_text(const unsigned *cpus, size_t n);
/* Threads on the machine that want to run now, the caller not counted, at least
 * 1; 0 where that says nothing about the `cpus` that this process has. */
unsigned leat_count_runnable(unsigned cpus);
/* CPU time since the machine's start: what the CPUs that this process may use have had, and what of
 * it anybody has used; and what this process, the children that it has reaped and the daemon (0:
 * none) have used. 0 where the kernel does not say. */
void leat_read_cpu_time(pid_t daemon, struct leat_cpu_time *time);

#endif
