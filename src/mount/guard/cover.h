/* Mounts over the workflow's directory. */
#ifndef LEAT_MOUNT_GUARD_COVER_H
#define LEAT_MOUNT_GUARD_COVER_H

#include "mount/internal.h"

/* Is `root`, the root of a mount as `pid` sees it, that of one of leat's which covers the
 * workflow's directory? 0 or 1; -ENOENT: it sees no such mount. */
int leat_cover_is(const struct leat_mount *m, pid_t pid, int root);

#endif
