/* Open files: each open of the kernel is one open of ours, whose last close the daemon learns of as
 * it does for any client. */
#ifndef LEAT_MOUNT_FILES_HANDLE_H
#define LEAT_MOUNT_FILES_HANDLE_H

#include "mount/daemon/ask.h"
#include "mount/names/handle.h"

/* Open what RESOLVE allowed, and report it (OPENED). */
int leat_handle_open(struct leat_mount_call *call, fuse_ino_t ino,
		     struct leat_mount_location *location, int flags, mode_t mode,
		     struct leat_handle **handle);
/* The last close. */
void leat_handle_close(struct leat_mount_call *call, struct leat_handle *h);
/* Is it a version that was opened to be read? */
bool leat_handle_is_version(const struct leat_handle *h);
/* A program closes a descriptor of a version: what there is to report of it before the close is. */
void leat_handle_note_closed(struct leat_mount_call *call, struct leat_handle *h);
/* A program closes a descriptor of it, perhaps the last. */
void leat_handle_flushed(struct leat_handle *h);
/* `n` bytes of `asked` were read at `offset` through it: a version is taken by that. */
void leat_handle_note_read(struct leat_mount_call *call, struct leat_handle *h, ssize_t n,
			   size_t asked, uint64_t offset);
/* The program is not given the version that it opens. */
void leat_handle_note_refused(struct leat_mount_call *call, const struct leat_handle *h);
/* The kernel tells of a last close without having the program wait for us, and the next open or
 * change of a name may depend on it (versions; a step's actions): wait for what programs have
 * closed. -EINTR if the caller is to die. */
int leat_handles_settle(struct leat_mount_call *call);
/* Wait until the file is final, if it is growing. */
int leat_handle_whole(struct leat_mount_call *call, const struct leat_handle *h);

#endif
