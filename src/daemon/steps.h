/* Steps: when they run, what they did, what they wait for. */
#ifndef LEAT_DAEMON_STEPS_H
#define LEAT_DAEMON_STEPS_H

#include "daemon/internal.h"

#define LEAT_SAMPLES 600

struct leat_sample {
	uint64_t bytes_in, bytes_out; /* in this interval */
	float waiting;                /* share of the interval */
};

struct leat_ticket;

struct leat_step_run {
	bool started;  /* an instance ran or runs */
	bool declared; /* somebody above said STEP_START: no instance begins by itself */
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
	bool tainted;                /* a broken promise was about a file of it, fatally */
	uint64_t start_ns, end_ns;
	uint64_t idle_ns;                    /* implicit: when the last process was gone */
	uint64_t death_ns;                   /* a process died abnormally */
	uint64_t quiet_mark, quiet_since_ns; /* what it had done then, and nothing since */
	uint64_t rest_signature,
		rest_since_ns; /* its processes were idle then, and have been since */
	uint64_t seen_in, seen_out;
	struct leat_sample *samples; /* owned; LEAT_SAMPLES */
	struct leat_sample sum;      /* of the one in the making */
};

int leat_steps_init(struct leat_daemon *d);
void leat_steps_free(struct leat_daemon *d);

/* An instance begins. */
void leat_step_begin(struct leat_daemon *d, int step, pid_t pid);
/* A process of the step has come / is gone. */
void leat_step_process_came(struct leat_daemon *d, int step, pid_t pid);
void leat_step_process_left(struct leat_daemon *d, const struct leat_proc *p);
/* An instance has ended with `status` as from waitpid. */
void leat_step_ended(struct leat_daemon *d, int step, int status, const char *reason);
/* The step was given a file that then failed, or an error instead of it: what it
 * makes is not to be trusted, whatever it says at its end. */
void leat_step_spoil(struct leat_daemon *d, int step, const char *name);
/* The same for all that run: a process of one of them had an error instead. */
void leat_steps_spoil(struct leat_daemon *d, const char *why);
/* The failed step that is to blame for a file of that rule, or -1. */
int leat_step_culprit(const struct leat_daemon *d, const struct leat_file_rule *rule);
/* The same for a file that nobody has spoken of, by its name: it has no state of its own. */
int leat_step_never_made(struct leat_daemon *d, const char *name);
/* How it is to blame, in words; the caller frees it. NULL when out of memory. */
char *leat_step_blame(const struct leat_daemon *d, int step);
/* By the clock: implicit instances whose processes are all gone. */
void leat_steps_settle(struct leat_daemon *d);
/* By the clock: take a sample of each running step. */
void leat_steps_sample(struct leat_daemon *d);
/* Length of one sample of all steps. */
unsigned leat_steps_interval_ms(const struct leat_daemon *d);
/* "waiting" (no instance yet), "running", "done", "failed". */
const char *leat_step_state_name(const struct leat_step_run *s);

/* ---- settled.c ---- */

/* Is all that the step makes final and, if permanent, on disk, the step having ended well?
 * 0, -EAGAIN not yet, -EIO never. */
int leat_step_settled(struct leat_daemon *d, int step);
/* A promise was broken about a file of that rule (NULL: none) by `step` (-1: unknown): who had to
 * do with it may have got what it should not. */
void leat_steps_taint(struct leat_daemon *d, const struct leat_file_rule *rule, int step);

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
