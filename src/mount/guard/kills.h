/* Programs in a container may have a limit on memory that leat does not see: that of a control
 * group which the engine makes and removes. Whether the kernel killed one of them is to be asked
 * when the container's first process has ended, before the group is gone. That process is known by
 * the calls with which it makes the container's root directory (bypass.c). */
#ifndef LEAT_MOUNT_GUARD_KILLS_H
#define LEAT_MOUNT_GUARD_KILLS_H

#include "mount/internal.h"

/* Before bypass.c's thread begins. Where it fails nobody is watched. */
void leat_kills_begin(struct leat_mount *m);
/* Thread `tid` makes such a call. If its process is in another group of memory than the server, its
 * end is watched. bypass.c's thread only. */
void leat_kills_meet(struct leat_mount *m, pid_t tid);
/* Those that have ended are asked about, and nobody is watched any more. */
void leat_kills_end(struct leat_mount *m);

#endif
