/* Changes of names, which the daemon makes. */
#ifndef LEAT_MOUNT_FILES_CHANGE_H
#define LEAT_MOUNT_FILES_CHANGE_H

#include "mount/daemon/call.h"

/* CHANGE, waiting. `second` may be NULL. */
int leat_mount_change(struct leat_mount_call *call, enum leat_change what, uint32_t flags,
		      const char *first, const char *second);

#endif
