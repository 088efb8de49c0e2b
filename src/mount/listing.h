/* A directory being read: the daemon joins store and disk. */
#ifndef LEAT_MOUNT_LISTING_H
#define LEAT_MOUNT_LISTING_H

#include "mount/internal.h"

struct leat_listing_of;

/* A listing of the directory `path`. NULL: no memory. */
struct leat_listing_of *leat_listing_new(const char *path);
/* Tells the daemon, too. NULL is allowed. */
void leat_listing_free(struct leat_errand *call, struct leat_listing_of *l);

#endif
