/* What is known of the steps. Event loop only. */
#ifndef LEAT_DAEMON_CORE_STEPS_H
#define LEAT_DAEMON_CORE_STEPS_H

#include "base/oom.h"
#include "daemon/core/state.h"
#include "daemon/core/step_state.h"
#include "store/persist.h"

struct leat_auth_token;
struct leat_prepared;

struct leat_step_run {
	enum leat_run_state state;
	bool done;          /* no further instance will start */
	unsigned running;   /* instances that have begun, and not ended */
	unsigned processes; /* known ones alive, of an instance that was found */
	pid_t pid;          /* root of the latest instance */
	int root;           /* pidfd, of who attached itself and started that one, or -1 */
	int status;         /* of the first failure, else 0 */
	int first_status;   /* found: what the first process said; -1 nothing yet */
	unsigned n_refused; /* files, under --enforce */
	struct leat_auth_token *auth_tokens; /* of its instances; owned */
	char *reason;                        /* owned */
	char *spoiled; /* why it cannot have succeeded, whatever it says; owned */
	char *killed;  /* by which limit a process in a container of it was killed; owned */
	bool unseen;   /* staged, and started without the library */
	bool shown;    /* it may list what is leat's, which was reported */
	bool held;     /* by a staged step, which was reported */
	bool missed;   /* a rank came too late for a version: reported */
	bool tainted;  /* a broken promise was about a file of it, fatally */
	struct leat_prepared *prepared; /* for a staged one that runs (prepared.h); owned */
	uint64_t *unmade; /* set of its outputs that were not there when it ended; owned */
	uint64_t start_ns, end_ns;
	uint64_t idle_ns;                        /* found: when the last process was gone */
	uint64_t death_ns;                       /* a process died abnormally */
	uint64_t quiet_progress, quiet_since_ns; /* what it had done then, and nothing since */
	/* Its processes were idle then, and have been until that look (of the daemon's n_looks). */
	uint64_t rest_signature, rest_since_ns, rest_look;
	bool rest_polls;     /* they are of an MPI job */
	struct leat_oom oom; /* while it runs */
};

/* The step was given a file that then failed, or an error instead of it: what it
 * makes is not to be trusted, whatever it says at its end. */
void leat_step_spoil(struct leat_daemon *d, int step, const char *name);
/* The same: a rank came too late for a version of `name`. True: it has not been reported yet. */
bool leat_step_missed(struct leat_daemon *d, int step, const char *name);
/* The same: leat had no space for what it wrote to the file. Its batch would have had some. */
void leat_step_cramped(struct leat_daemon *d, int step, const char *name);
/* The same for all that run: a process of one of them had an error instead. */
void leat_steps_spoil(struct leat_daemon *d, const char *why);
/* A promise was broken about a file of that rule (NULL: none) by `step` (-1: unknown): who had to
 * do with it may have got what it should not. */
void leat_steps_taint(struct leat_daemon *d, const struct leat_file_rule *rule, int step);
/* Is there one that is staged, and may list what is leat's on disk? Any thread. */
bool leat_steps_any_staged(const struct leat_daemon *d);
/* How files are saved, then. Any thread. */
enum leat_persist_by leat_steps_persist_by(const struct leat_daemon *d);
/* The step goes on to its next state; if there is none, that is reported as a bug. */
void leat_step_run_advance(struct leat_daemon *d, int step, enum leat_run_event event);

/* "waiting" (no instance yet), "running", "done", "failed". */
const char *leat_step_state_name(const struct leat_step_run *s);

#endif
