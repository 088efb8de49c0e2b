/* Open files that the daemon moves between memory and disk. Any thread; 0 or -errno. */
#ifndef LEAT_MOUNT_FILES_FOLLOW_H
#define LEAT_MOUNT_FILES_FOLLOW_H

#include "mount/names/handle.h"
#include "mount/daemon/call.h"

/* A file stays where it is for the moment of a change. */
struct leat_handle_held {
	struct leat_shm_file *f; /* NULL: there is nothing to be held */
	uint32_t generation;
};

/* Bring the handle to where its file is now. `write`: wait while it moves; else what may be read
 * yet is where it was. At no cost for files that have not moved but two loads. */
int leat_handle_migrate(struct leat_mount_call *call, struct leat_handle *h, bool write);
/* The same for a duplicate of a handle's descriptor, which keeps its number; `generation` is where
 * its file was when it was made. Waits while it moves. */
int leat_handle_migrate_copy(struct leat_mount_call *call, uint32_t slot, uint32_t generation,
			     int fd);
/* Before a change: follow the file, and hold it there. Nothing that may wait for long is done until
 * leat_handle_release. */
int leat_handle_acquire(struct leat_mount_call *call, struct leat_handle *h,
			struct leat_handle_held *held);
/* After it: `n`, the result, or -EIO if it took so long that the file was moved without it. */
ssize_t leat_handle_release(const struct leat_handle_held *held, ssize_t n);

#endif
