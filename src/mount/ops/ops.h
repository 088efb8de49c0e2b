/* The operations that the kernel asks for. */
#ifndef LEAT_MOUNT_OPS_OPS_H
#define LEAT_MOUNT_OPS_OPS_H

#include "mount/daemon/ask.h"

/* Is the file final, so that its attributes may be kept? Seconds. */
double leat_ops_keep_s(const struct leat_mount_call *call,
		       const struct leat_mount_location *location);
/* Where `path` is for `op`, STAT or ACCESS, after waiting as long as it takes, the end of a symlink
 * not included. A directory on the caller's way, of which it wants no more than to go there, is not
 * waited for: *passes, and it is as it is now. */
int leat_ops_look(struct leat_mount_call *call, enum leat_op op, const char *path,
		  struct leat_mount_location *location, bool *passes);
/* Attributes as the kernel is to have them. */
void leat_ops_show(struct leat_mount *m, fuse_ino_t ino, const char *name, struct stat *st);
/* Attributes of a name into `e`, with a lookup counted. */
int leat_ops_entry(struct leat_mount_call *call, fuse_ino_t parent, const char *name,
		   const struct leat_mount_location *location, struct fuse_entry_param *e);

void leat_ops_add_names(struct fuse_lowlevel_ops *ops);
void leat_ops_add_attributes(struct fuse_lowlevel_ops *ops);
void leat_ops_add_xattrs(struct fuse_lowlevel_ops *ops);
void leat_ops_add_directories(struct fuse_lowlevel_ops *ops);
void leat_ops_add_files(struct fuse_lowlevel_ops *ops);
void leat_ops_add_data(struct fuse_lowlevel_ops *ops);

#endif
