/* Other users than the mount's. Where the subordinate ids of an ordinary user are mapped, programs
 * of a container may be such users, and the server has no right to act as one of them. They read
 * what they might read on a disk; a change is refused, and if they might have made it there the
 * step cannot end well. */
#ifndef LEAT_MOUNT_FILES_OTHER_H
#define LEAT_MOUNT_FILES_OTHER_H

#include "mount/daemon/call.h"

/* May it do that (access(2)) with a file of these attributes? -EACCES. */
int leat_other_access(const struct leat_mount_call *call, const struct stat *st, int mask);
/* May it change the file or directory? -EACCES. */
int leat_other_change(const struct leat_mount_call *call, fuse_ino_t ino);
/* Owner and group that a file is to have (-1: that stays), by the ids that the mount has, become
 * those that the server has. -EPERM: others than the mount's own, whom nobody can give a file to
 * here. */
int leat_other_owner(const struct leat_mount_call *call, uid_t *uid, gid_t *gid);

#endif
