/* The daemon's state; one loop thread owns all of it. */
#ifndef LEAT_DAEMON_CORE_STATE_H
#define LEAT_DAEMON_CORE_STATE_H

#include "daemon/daemon.h"
#include "daemon/core/phase.h"
#include "daemon/core/session.h"
#include "model/match.h"
#include "shm/extents.h"
#include "store/store.h"
#include "store/tree.h"
#include "stream/stream.h"
#include "wire/wire.h"

/* A failed addition leaves hh.tbl NULL instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#include "base/tables.h"
#include <utlist.h>
#include <uv.h>

struct leat_conn;
struct leat_daemon_files;
struct leat_daemon_handler;
struct leat_daemon_handles;
struct leat_daemon_observer;
struct leat_daemon_ops;
struct leat_daemon_run;
struct leat_daemon_space;
struct leat_file;
struct leat_proc;
struct leat_problem;
struct leat_step_run;
struct leat_user;

struct leat_daemon {
	struct leat_daemon_options options;
	const struct leat_workflow *wf; /* borrowed */
	pid_t driver;                   /* whose end is ours; 0: nobody's */
	uint64_t start_ns;
	struct timespec start_time; /* wall clock, as files have it */
	bool has_views;             /* some step sees files by other names, or in versions */

	/* Who is above, and what it keeps (loop/daemon.c). */
	const struct leat_daemon_observer *observer;
	const struct leat_daemon_handler *handlers; /* by type of message */
	size_t n_handlers;
	struct leat_daemon_files *files;
	struct leat_daemon_space *space;
	struct leat_daemon_run *run;
	struct leat_daemon_ops *ops;
	struct leat_daemon_handles *handles;

	/* Places. */
	char dir[PATH_MAX]; /* the workflow's directory, real path */
	int disk_fd;        /* of it */
	struct leat_session session;
	struct leat_store *store;
	char exec_path[64]; /* the store as programs to be run reach it */
	struct leat_tree *tree;
	int shm_fd;
	struct leat_shm *shm;

	/* The rules, and the events that are applied to them (events.c). */
	struct leat_matcher *matcher;
	struct leat_stream *stream;
	FILE *log;                   /* event log or NULL */
	uint64_t seq;                /* events so far */
	uint64_t progress;           /* grows with everything that is not waiting */
	int applying;                /* the step whose event is being applied to the rules; -1 */
	struct leat_file *early_due; /* committed, with sizes relied on before */

	/* Connections and processes. */
	uv_loop_t loop;
	uv_idle_t keen; /* while the next message is likely to come at once */
	uint64_t keen_since;
	uint64_t busy_until; /* the processor is needed by others */
	struct leat_conn *conns;
	uint64_t last_conn;
	struct leat_proc *procs;   /* by pid */
	char out[LEAT_WIRE_MAX];   /* the reply being built */
	char event[LEAT_WIRE_MAX]; /* an EVENT: may come while a reply is built */

	struct leat_step_run *steps;   /* one per step of the model */
	struct leat_problem *problems; /* reported to a person, in order */
	unsigned n_problems;
	unsigned n_violations;
	bool failed; /* the run has failed whatever the steps say */

	/* The end. */
	enum leat_daemon_phase phase; /* run/finish.c advances it */
	struct leat_conn *finishing;  /* waits for the reply to FINISH */
	uint64_t finish_ns;           /* when that came */
	bool wants_timeline;          /* with that reply */
	bool is_cut_off;              /* the driver has said that it stops what runs */
};

#endif
