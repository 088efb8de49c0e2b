/* The daemon's state; one loop thread owns all of it. */
#ifndef LEAT_DAEMON_CORE_STATE_H
#define LEAT_DAEMON_CORE_STATE_H

#include "daemon/daemon.h"
#include "daemon/space/memory_limits.h"
#include "daemon/run/milestones.h"
#include "daemon/core/session.h"
#include "model/match.h"
#include "shm/extents.h"
#include "store/store.h"
#include "store/tree.h"
#include "stream/stream.h"
#include "wire/wire.h"

/* A failed addition leaves hh.tbl NULL instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>
#include <uv.h>

struct leat_file;
struct leat_live;
struct leat_conn;
struct leat_proc;
struct leat_step_run;
struct leat_catalog;
struct leat_job;
struct leat_problem;
struct leat_dirty_dir;
struct leat_move;
struct leat_old;
struct leat_daemon_command;
struct leat_refusal;
struct leat_actor;
struct leat_act_call;

/* The memory budget, and where files go that it has no room for. */
struct leat_spill {
	char path[PATH_MAX]; /* real path of the private directory; "": not made yet */
	const char *below;   /* the part of it below the workflow's directory, or NULL */
	int fd;
	bool refused; /* it cannot be made */
	uint64_t budget_bytes, used_bytes;
	uint64_t looked_ns;      /* when used_bytes was found */
	uint64_t fitted_ns;      /* when the limits were looked at */
	uint64_t full_ns;        /* when there was no space left in it, 0: never */
	uint64_t moved_bytes;    /* since the run began */
	struct leat_move *moves; /* running */
	unsigned n_moves;
	struct leat_old *olds; /* what files were before they were moved, still open */
	uint64_t last_byte;    /* see switch.c */
};

/* Files that steps have for themselves; see own.h. */
struct leat_private {
	int fd;                         /* of the directory, -1: not made yet */
	char name[NAME_MAX + 1];        /* its name in the workflow's directory */
	struct leat_own_hidden *hidden; /* owned */
};

struct leat_daemon {
	struct leat_daemon_options options;
	const struct leat_workflow *wf; /* borrowed */
	pid_t driver;                   /* whose end is ours; 0: nobody's */
	char dir[PATH_MAX];             /* the workflow's directory, real path */
	char exec_path[64];             /* the store as programs to be run reach it */
	uint64_t start_ns;
	struct timespec start_time; /* wall clock, as files have it */
	struct timespec *newest;    /* complete input of each step; owned, NULL: none yet */

	uv_loop_t loop;
	uv_work_t first_work;
	uv_poll_t listener;
	uv_idle_t keen; /* while the next message is likely to come at once */
	uint64_t keen_since;
	uint64_t busy_until; /* the processor is needed by others */
	uv_timer_t tick;
	uv_check_t ended; /* while open descriptions are to be looked at that have ended */
	uv_signal_t on_term, on_int;

	struct leat_session session;
	struct leat_roll *roll; /* unseen.c */
	struct leat_store *store;
	struct leat_spill spill;
	struct leat_private own;
	struct leat_limits limits;
	struct leat_tree *tree;
	int disk_fd;
	int shm_fd;
	struct leat_shm *shm;
	struct leat_matcher *matcher;
	struct leat_stream *stream;

	FILE *log;         /* event log or NULL */
	uint64_t seq;      /* events so far */
	uint64_t progress; /* grows with everything that is not waiting */

	struct leat_file *files;    /* by name */
	struct leat_file **by_slot; /* [0] unused; never shrinks */
	uint32_t n_slots;
	uint32_t room_slots;
	struct leat_live *lives;                     /* open descriptions, by id */
	const struct leat_file_rule *announced_rule; /* of whose files these are the consumers */
	uint64_t announced_consumers;
	unsigned n_hidden; /* files some consumer removed for itself */
	uint64_t last_ofd;
	struct leat_file *early_due; /* committed, with sizes relied on before */

	struct leat_conn *conns;
	int spare_fd;            /* to turn those away for whom there is none */
	bool crowded;            /* somebody was */
	bool moved;              /* the workflow's directory is not where it was: told */
	struct leat_proc *procs; /* by pid */
	uint64_t last_conn;
	uv_timer_t sampler; /* while steps run */
	struct leat_marks marks;
	int applying;                  /* the step whose event the rules are told of; -1 */
	struct leat_step_run *steps;   /* one per step of the model */
	struct leat_catalog *catalogs; /* listings in progress, by handle */
	uint64_t last_catalog;

	ino_t mounts;                         /* namespace the daemon was started in */
	struct leat_daemon_command *commands; /* of steps, in the workflow's directory; owned */
	struct leat_refusal *refusals;        /* that were told; owned */
	unsigned n_refused;

	struct leat_job *jobs;             /* queued; the running ones are libuv's */
	unsigned n_jobs;                   /* running */
	unsigned n_ahead;                  /* clearings of memory under way, ahead.c */
	struct leat_dirty_dir *dirty_dirs; /* with renames that are not yet synced */
	struct leat_problem *problems;     /* what a person must be told, in order */
	unsigned n_problems;
	unsigned n_violations;
	unsigned n_failed_told; /* failed files somebody waited for */
	bool failed;            /* the run has failed whatever the steps say */

	struct leat_actor *actors;         /* ranks of steps with actions; owned */
	struct leat_act_call *calls;       /* of them that are under way; owned */
	struct leat_rank_wait *rank_waits; /* of MPI jobs, whose end nobody will tell; owned */
	uint64_t last_call;

	struct leat_conn *finishing; /* waits for the reply to FINISH */
	bool has_views;              /* some step sees files by other names, or in versions */
	bool stopping;
	bool is_finishing; /* FINISH was asked for */
	bool wants_timeline;
	bool is_cut_off; /* the driver stops what runs */
	bool ending;     /* only what is committed is still brought to disk */

	uint64_t quiet_since_ns; /* no progress since then */
	uint64_t quiet_mark;     /* what was counted then */
	uint64_t look_ns;        /* for a deadlock, not before */
	uint64_t n_looks;        /* so many were due */
	uint64_t reminded_ns;    /* of who waits for whom */

	char out[LEAT_WIRE_MAX];   /* the reply being built */
	char event[LEAT_WIRE_MAX]; /* an EVENT: may come while a reply is built */
};

/* ---- daemon.c ---- */

/* End the loop soon. */
void leat_daemon_stop(struct leat_daemon *d);
/* Fail what is not committed, saying why; then end when running jobs are done. */
void leat_daemon_abort(struct leat_daemon *d, const char *why);

/* ---- pool.c ---- */

/* Start the threads that copy files. 0, or -errno and one line for a person. */
int leat_pool_start(struct leat_daemon *d, char *error, size_t error_size);

/* ---- problems.c ---- */

/* One line for a person: kept for the summary and sent to who asked for EVENTs,
 * else logged. `error` 0: a warning; else the run has failed. */
void leat_problem_add(struct leat_daemon *d, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Tell those who asked for EVENTs that a step, by its number, may be launched again. */
void leat_problems_look(struct leat_daemon *d, const char *step);

struct leat_problem {
	int error;
	char *text; /* owned */
	struct leat_problem *prev, *next;
};

void leat_problems_free(struct leat_daemon *d);

/* ---- watch.c: everything that happens by the clock ---- */

int leat_watch_start(struct leat_daemon *d);

#endif
