/* Questions about names and space, and reports that the daemon has handled when they return. */
#ifndef LEAT_MOUNT_DAEMON_ASK_H
#define LEAT_MOUNT_DAEMON_ASK_H

#include "mount/daemon/call.h"

/* Where the daemon says a name is. After -EAGAIN: where a spilled file is that is growing, path ""
 * for others. */
struct leat_mount_location {
	int dirfd;
	char path[PATH_MAX];
	uint32_t kind; /* enum leat_kind */
	uint32_t slot;
	uint32_t seq;        /* after -EAGAIN, to sleep on */
	uint32_t generation; /* else: of the file's location */
	uint32_t flags;
	uint64_t ofd;
	bool intact;   /* the open has changed nothing */
	bool mistaken; /* see struct leat_msg_resolved */
};

/* One RESOLVE of `path` (below the workflow's directory), for `what`. -EAGAIN fills slot and seq.
 */
int leat_mount_resolve_once(struct leat_mount_call *call, const struct leat_msg_resolve *what,
			    const char *path, struct leat_mount_location *location);
/* The same, waiting until the call may go on. -EINTR if the caller is to die. */
int leat_mount_resolve(struct leat_mount_call *call, const struct leat_msg_resolve *what,
		       const char *path, struct leat_mount_location *location);
/* The same of a node; a symlink is not followed. */
int leat_mount_resolve_node(struct leat_mount_call *call, fuse_ino_t ino,
			    const struct leat_msg_resolve *what,
			    struct leat_mount_location *location);
/* A write of `length` bytes found no space: have some made, waiting as long as it takes. False:
 * there is none. *attempt starts at 0. */
bool leat_mount_make_space(struct leat_mount_call *call, uint32_t slot, uint64_t length,
			   uint64_t *attempt);
/* Before `length` bytes are written to file `slot`: is the budget for files used up, although the
 * store itself has space? */
bool leat_mount_is_over_budget(struct leat_mount_call *call, uint32_t slot, uint64_t length);
/* Send a message (leat_channel_report), which the daemon has handled when this returns: other
 * threads have other connections, and what they send of the file, as that it was closed, must come
 * after it. */
void leat_mount_report(struct leat_mount_call *call, const struct leat_msg *report);
/* Report (OPENED) how the call that the daemon allowed has ended: `rc` 0 or -errno. Returns when
 * that was handled. */
void leat_mount_report_opened(struct leat_mount_call *call,
			      const struct leat_mount_location *location, int rc);

#endif
