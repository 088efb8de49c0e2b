/* The processes behind the connections. Event loop only. */
#ifndef LEAT_DAEMON_CORE_PROCESSES_H
#define LEAT_DAEMON_CORE_PROCESSES_H

#include "daemon/core/state.h"

/* One process; lives until the kernel says it is gone. */
struct leat_proc {
	UT_hash_handle hh;
	struct leat_daemon *d;
	pid_t pid;
	int pidfd;
	uv_poll_t poll;
	int step;           /* -1: control */
	long rank;          /* in its MPI job; -1: none, or nobody asks */
	pid_t rank_first;   /* the first process of that rank, */
	uint64_t rank_born; /* and when it began (base/pidstat.h) */
	bool mount;         /* it answers for the mount of a program */
	bool exiting;       /* said so: a normal end */
	bool cut_short;     /* but not of all it speaks for */
	int status;
	bool gone;
	struct leat_conn *conns;
};

/* The record of the process at the other end. NULL when out of memory or when it is gone. */
struct leat_proc *leat_proc_get(struct leat_daemon *d, pid_t pid);
/* What processes of the step have sent, each up to what it wants an answer to, and which of them
 * have ended, whichever connection is read first: they may have sent to, or waited for, each other.
 */
void leat_procs_hear(struct leat_daemon *d, int step);
/* See which processes of the step are gone, without waiting for the loop. */
void leat_procs_reap(struct leat_daemon *d, int step);
/* Has another process of its step died, which has not been reported yet? */
bool leat_proc_died_beside(const struct leat_proc *p);
/* Is one of the step being ended that is not all gone, or whose end has not been reported yet? What
 * it has open is open until then. */
bool leat_procs_any_dying(const struct leat_daemon *d, int step);
void leat_procs_free(struct leat_daemon *d);

#endif
