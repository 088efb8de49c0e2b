/* The two halves of a directory. Event loop only. */
#ifndef LEAT_DAEMON_OPS_ALIKE_H
#define LEAT_DAEMON_OPS_ALIKE_H

#include "daemon/core/state.h"

/* Make the other half of the directory `path` like the one that was changed, as who asks. 0, also
 * if there is none, or -errno. */
int leat_change_alike(struct leat_conn *c, const char *path, unsigned flags);

#endif
