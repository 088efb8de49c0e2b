/* When mode, owner, times or attributes of one half of a directory were changed, the daemon makes
 * the other like it; if it cannot, the change is taken back. */
#ifndef LEAT_MOUNT_FILES_HALVES_H
#define LEAT_MOUNT_FILES_HALVES_H

#include "mount/daemon/call.h"

/* What a directory was before. */
struct leat_mount_half {
	bool is_dir; /* else there is nothing to be done */
	bool in_store;
	struct stat st;
};

/* Of what `fd` is of, O_PATH or not; -1: nothing. */
void leat_half_note(struct leat_mount_half *h, const struct leat_mount_call *call, int fd);
/* It was changed by `fd`; flags: LEAT_ALIKE_TIMES, LEAT_ALIKE_ATTRIBUTES, of what it was. 0 or
 * -errno. */
int leat_half_changed(struct leat_mount_call *call, const struct leat_mount_half *h, fuse_ino_t ino,
		      int fd, unsigned flags);

#endif
