/* The processes of an MPI step: which is which, and that only the first `nwriters` do I/O. */
#ifndef LEAT_DAEMON_RUN_RANKS_H
#define LEAT_DAEMON_RUN_RANKS_H

#include "daemon/core/connections.h"

/* May the client open `name`, which its step makes or reads? 0, or -EACCES, which is reported:
 * `what` it does ("for writing"). */
int leat_rank_check(struct leat_conn *c, const char *name, const char *what);

/* Which process of its MPI job it is; -1 if it is none of a job, or that cannot be seen. */
long leat_rank_find(struct leat_conn *c);
/* The same; 0 if it is none. */
unsigned leat_rank_of(struct leat_conn *c);

/* The first connection of a process of a step. */
void leat_rank_came(struct leat_conn *c);
/* A process has ended: 1 + its rank, if the rank has ended with it: no other process of it is
 * known, and the one that the launcher has started is gone. 0: not so, or of none. */
unsigned leat_rank_left(const struct leat_proc *p);
/* Those are looked at whose first process has nothing to say: their end is applied to the rules. */
void leat_ranks_look(struct leat_daemon *d);
void leat_ranks_free(struct leat_daemon *d);

#endif
