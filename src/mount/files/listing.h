/* A directory being read: the daemon joins store and disk. */
#ifndef LEAT_MOUNT_FILES_LISTING_H
#define LEAT_MOUNT_FILES_LISTING_H

#include "mount/daemon/call.h"

struct leat_listing_of;

/* A listing of the directory `path`. NULL: no memory. */
struct leat_listing_of *leat_listing_new(const char *path);
/* Tells the daemon, too. NULL is allowed. */
void leat_listing_free(struct leat_errand *call, struct leat_listing_of *l);
/* The names after the first `cookie` ones, as the kernel is to have them, waiting for them: bytes,
 * or -errno. */
ssize_t leat_listing_read(struct leat_errand *call, struct leat_listing_of *l, uint64_t cookie,
			  char *out, size_t room);
/* Somebody looks at an open directory: as in the library, before its names are read he waits for
 * those that are awaited, after which it does not change any more. 1: it did wait, and may have
 * changed; 0; -errno. */
int leat_listing_settle(struct leat_errand *call, fuse_ino_t ino);

#endif
