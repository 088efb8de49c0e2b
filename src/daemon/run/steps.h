/* Steps: when they run, what they did, what they wait for. */
#ifndef LEAT_DAEMON_RUN_STEPS_H
#define LEAT_DAEMON_RUN_STEPS_H

#include "daemon/core/state.h"

#include "daemon/run/track.h"

#include "base/oom.h"

struct leat_ticket;

struct leat_step_run {
	bool started;  /* an instance ran or runs */
	bool declared; /* somebody above said STEP_START: no instance begins by itself */
	bool resting;  /* between two launches for versions of its inputs */
	bool implicit; /* an instance that began with its first process */
	bool done;     /* no further instance will start */
	unsigned running;
	unsigned processes;          /* known ones alive, of the implicit instance */
	pid_t pid;                   /* root of the latest instance */
	int status;                  /* of the first failure, else 0 */
	int first_status;            /* implicit: what the first process said; -1 nothing yet */
	unsigned n_refused;          /* files, under --enforce */
	struct leat_ticket *tickets; /* of its instances; owned */
	char *reason;                /* owned */
	char *spoiled;               /* why it cannot have succeeded, whatever it says; owned */
	bool missed;                 /* a rank came too late for a version: told */
	bool tainted;                /* a broken promise was about a file of it, fatally */
	uint64_t *unmade; /* set of its outputs that were not there when it ended; owned */
	uint64_t start_ns, end_ns;
	uint64_t idle_ns;                    /* implicit: when the last process was gone */
	uint64_t death_ns;                   /* a process died abnormally */
	uint64_t quiet_mark, quiet_since_ns; /* what it had done then, and nothing since */
	/* Its processes were idle then, and have been until that look (of the daemon's n_looks). */
	uint64_t rest_signature, rest_since_ns, rest_look;
	bool rest_polls; /* they are of an MPI job */
	/* The timeline: what was counted when it was looked at last. */
	uint64_t sampled_ns, seen_in, seen_out, seen_wait, seen_copy;
	uint64_t owed_ns;   /* waiting that is in the timeline, but not counted yet */
	uint32_t wait_file; /* what its calls wait for, by number of the name (marks.h) */
	uint64_t cpu_ns;    /* of its processes, when it was asked for last */
	struct leat_track track;
	struct leat_oom oom; /* while it runs */
};

int leat_steps_init(struct leat_daemon *d);
void leat_steps_free(struct leat_daemon *d);

/* An instance begins. */
void leat_step_begin(struct leat_daemon *d, int step, pid_t pid);
/* A process of the step has come / is gone. */
void leat_step_process_came(struct leat_daemon *d, int step, pid_t pid);
void leat_step_process_left(struct leat_daemon *d, const struct leat_proc *p);
/* Whoever looks after an instance, the process `parent`, is gone: nobody will tell its end. */
void leat_step_abandoned(struct leat_daemon *d, int step, pid_t parent);
/* An instance has ended with `status` as from waitpid. */
void leat_step_ended(struct leat_daemon *d, int step, int status, const char *reason);
/* The step was given a file that then failed, or an error instead of it: what it
 * makes is not to be trusted, whatever it says at its end. */
void leat_step_spoil(struct leat_daemon *d, int step, const char *name);
/* The same: a rank came too late for a version of `name`. True: nobody has been told yet. */
bool leat_step_missed(struct leat_daemon *d, int step, const char *name);
/* The same: leat had no room for what it wrote to the file. Its batch would have had some. */
void leat_step_cramped(struct leat_daemon *d, int step, const char *name);
/* The same for all that run: a process of one of them had an error instead. */
void leat_steps_spoil(struct leat_daemon *d, const char *why);
/* The failed step that is to blame for a file of that rule, or -1. */
int leat_step_culprit(const struct leat_daemon *d, const struct leat_file_rule *rule);
/* The same for a file that nobody has spoken of, by its name: it has no state of its own. */
int leat_step_never_made(struct leat_daemon *d, const char *name);
/* The first of the step's inputs that has failed, a pattern perhaps; NULL: none is known to have.
 */
const char *leat_step_failed_input(const struct leat_daemon *d, int step);
/* How it is to blame, in words; the caller frees it. NULL when out of memory. */
char *leat_step_blame(const struct leat_daemon *d, int step);
/* By the clock: implicit instances whose processes are all gone. */
void leat_steps_settle(struct leat_daemon *d);
/* "waiting" (no instance yet), "running", "done", "failed". */
const char *leat_step_state_name(const struct leat_step_run *s);

/* ---- sample.c: what the steps do, for the timeline ---- */

int leat_samples_init(struct leat_daemon *d);
void leat_samples_release(struct leat_daemon *d);
/* Look at the step now, so that what comes is told apart from what was. */
void leat_step_sample(struct leat_daemon *d, int step);
/* The step has begun to run: look at it from time to time. */
void leat_samples_start(struct leat_daemon *d);
/* So often. */
unsigned leat_samples_interval_ms(const struct leat_daemon *d);
/* CPU time of the step's processes, and of those they have waited for; what others had that are
 * gone is not in it. Never less than before. */
uint64_t leat_step_cpu_ns(struct leat_daemon *d, int step);

/* ---- relaunch.c: a launch for each version ---- */

/* May the step be launched for a further version? `over`: a launch of it has just ended. 0,
 * -EAGAIN (leat_problems_look tells when to ask again), -ENOENT never, -EIO. */
int leat_step_more(struct leat_daemon *d, int step, bool over);
/* The rules wake `name`: is it that of a step that waits so? It is told, then. */
bool leat_step_look(struct leat_daemon *d, const char *name);

/* ---- settled.c ---- */

/* Is all that the step makes final and, if permanent, on disk, the step having ended well?
 * 0, -EAGAIN not yet, -EIO never. */
int leat_step_settled(struct leat_daemon *d, int step);
/* A promise was broken about a file of that rule (NULL: none) by `step` (-1: unknown): who had to
 * do with it may have got what it should not. */
void leat_steps_taint(struct leat_daemon *d, const struct leat_file_rule *rule, int step);

/* ---- unmade.c: outputs that a step spells out and, having ended well, has not made ---- */

struct leat_json;

/* An instance has ended: look which of its outputs are there. */
void leat_unmade_note(struct leat_daemon *d, int step);
/* Has it left one out, as far as is known now? */
bool leat_unmade_any(struct leat_daemon *d, int step);
/* Is one, of any step, an error? */
bool leat_unmade_fails(struct leat_daemon *d);
/* List them for the summary. */
void leat_unmade_put(struct leat_daemon *d, struct leat_json *j);

/* ---- staged.c: steps that run without interception ---- */

/* May it start? 0 and its inputs are on disk; -EAGAIN; -errno never. `on` is
 * set to the file to wait on. */
int leat_staged_launch(struct leat_daemon *d, int step, struct leat_file **on);
/* Why it never may, after leat_staged_launch said `rc`, in words; the caller frees it.
 * NULL when out of memory. */
char *leat_staged_obstacle(struct leat_daemon *d, int step, int rc);
/* It has ended: what it made on disk becomes known to the rules. */
void leat_staged_adopt(struct leat_daemon *d, int step);

#endif
