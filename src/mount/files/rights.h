/* Who may use a file: what requests change of it. */
#ifndef LEAT_MOUNT_FILES_RIGHTS_H
#define LEAT_MOUNT_FILES_RIGHTS_H

#include "mount/daemon/call.h"

/* The LEAT_OP_META of a setattr: `what` has FUSE_SET_ATTR_... */
struct leat_msg_resolve leat_rights_of(const struct stat *st, int what);
/* Of a setxattr, or, without `value`, a removexattr. */
struct leat_msg_resolve leat_rights_of_attribute(const char *name, const char *value, size_t size);
/* A file that is open is changed by its descriptor, of record `slot`; whether this step may is said
 * of its name. One without a name is the affair of those who have it open. 0 or -errno. */
int leat_rights_may_change(struct leat_mount_call *call, fuse_ino_t ino, uint32_t slot,
			   const struct leat_msg_resolve *rights);

#endif
