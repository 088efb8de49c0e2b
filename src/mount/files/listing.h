/* A directory being read: the daemon joins store and disk. */
#ifndef LEAT_MOUNT_FILES_LISTING_H
#define LEAT_MOUNT_FILES_LISTING_H

#include "mount/daemon/call.h"

struct leat_mount_listing;

/* A listing of the directory `path`. NULL: no memory. */
struct leat_mount_listing *leat_listing_new(const char *path);
/* Tells the daemon, too. NULL is allowed. */
void leat_listing_free(struct leat_mount_call *call, struct leat_mount_listing *l);
/* The names after the first `cookie` ones, as the kernel is to have them, waiting for them: bytes,
 * or -errno. */
ssize_t leat_listing_read(struct leat_mount_call *call, struct leat_mount_listing *l,
			  uint64_t cookie, char *out, size_t space);
/* Somebody looks at an open directory: as in the library, before its names are read he waits for
 * those that are awaited, after which it does not change any more. 1: it did wait, and may have
 * changed; 0; -errno. */
int leat_listing_settle(struct leat_mount_call *call, fuse_ino_t ino);

#endif
