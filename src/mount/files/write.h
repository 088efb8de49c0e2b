/* Changes of a file's bytes and length, with what the others must know of them: the same order of
 * things as in the interception library, where the offset is always known. */
#ifndef LEAT_MOUNT_FILES_WRITE_H
#define LEAT_MOUNT_FILES_WRITE_H

#include "mount/names/handle.h"
#include "mount/daemon/call.h"

/* Write `size` bytes at `offset` (at the end, with O_APPEND), and publish them. `mapped`: they come
 * from a mapping, whose offset holds even with O_APPEND. The number written or -errno. */
ssize_t leat_handle_write(struct leat_mount_call *call, struct leat_handle *h, const char *data,
			  size_t size, uint64_t offset, bool mapped);
/* Give the file `length` bytes. */
int leat_handle_resize(struct leat_mount_call *call, struct leat_handle *h, uint64_t length);
/* As fallocate(2). */
int leat_handle_allocate(struct leat_mount_call *call, struct leat_handle *h, int mode,
			 uint64_t offset, uint64_t length);

#endif
