/* The children of processes, as the kernel lists them. */
#ifndef LEAT_DAEMON_RUN_CHILDREN_H
#define LEAT_DAEMON_RUN_CHILDREN_H

#include "daemon/core/state.h"

/* Calls `fn` for each child of a thread until it returns false. 0: for all; 1: it has; -errno: they
 * cannot be listed. Any thread. */
int leat_children_each(pid_t pid, const char *tid, bool (*fn)(void *ctx, pid_t child), void *ctx);
/* The same for processes whose parent has ended, which come to the driver. Whose they are nobody
 * knows; the first processes of steps that run, and the daemon, are none. Event loop only. */
int leat_orphans_each(const struct leat_daemon *d, bool (*fn)(void *ctx, pid_t orphan), void *ctx);

#endif
