/* How full the store is, and how large it may be. Event loop only. */
#ifndef LEAT_DAEMON_SPACE_FIT_H
#define LEAT_DAEMON_SPACE_FIT_H

#include "daemon/core/state.h"

struct leat_cgroup;

/* Look at the limits, and make the store larger or smaller. */
void leat_space_fit(struct leat_daemon *d);
/* A process that writes files has come: before it writes any, the store fits its limits, too.
 * Returns its control group, for the caller to close; NULL: not known. */
struct leat_cgroup *leat_space_meet(struct leat_daemon *d, pid_t pid);
/* How full the store is, into `d->space`; looked at now and then only, */
void leat_space_look(struct leat_daemon *d);
/* or, for a process that needs space, now, unless all files were looked at a moment ago. */
void leat_space_look_anew(struct leat_daemon *d);
/* Before `length` bytes are added to `f` in a store that is larger than the budget: 0 or -ENOSPC.
 */
int leat_space_check(struct leat_daemon *d, const struct leat_file *f, uint64_t length);

#endif
