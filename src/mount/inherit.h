/* Descriptors from before the mount. One thread only. */
#ifndef LEAT_MOUNT_INHERIT_H
#define LEAT_MOUNT_INHERIT_H

#include "mount/daemon/call.h"

/* Wait until the inherited descriptors on growing files are final, have those of files that have
 * moved exchanged in the program's process, too, by `peer`, and close them all but `peer` and
 * standard error. */
int leat_inherit_settle(struct leat_mount_call *call, int peer);
/* Where the working directory is below the workflow's: false if it is elsewhere. */
bool leat_inherit_cwd(const struct leat_mount *m, char *out);

#endif
