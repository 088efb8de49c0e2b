/* Will the processes of a step act by themselves? Asked before a deadlock is believed: the rules
 * know calls that wait, not processes that sleep, compute, or are woken by others. Read from
 * /proc; what cannot be read, or is not understood, may act. Event loop only. */
#ifndef LEAT_DAEMON_RUN_IDLE_H
#define LEAT_DAEMON_RUN_IDLE_H

#include "daemon/core/state.h"

enum { LEAT_IDLE_WHY = 256 };

struct leat_idle {
	uint64_t signature; /* of how often its threads have run */
	bool polls;         /* an MPI job is among its processes, which may pass messages on */
};

/* True if every thread of every process of step `step` was found waiting for leat, or for another
 * of them, and nothing is under way that a call of theirs waits for. If not, `why` says who may
 * act. The threads are looked at one after another: that none of them has run meanwhile is
 * certain if the signature is the same when they are looked at again, and what they have sent
 * before was handled. Each rank of an MPI job has a thread that waits for leat; its launchers, and
 * threads of the MPI libraries, wait for messages, or use next to no CPU time. */
bool leat_step_is_idle(struct leat_daemon *d, int step, struct leat_idle *seen,
		       char why[LEAT_IDLE_WHY]);

#endif
