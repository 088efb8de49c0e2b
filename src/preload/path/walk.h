/* Following a path as the kernel would, as far as the workflow's directory. */
#ifndef LEAT_PRELOAD_PATH_WALK_H
#define LEAT_PRELOAD_PATH_WALK_H

#include "preload/connection/client.h"

enum leat_walk {
	LEAT_WALK_INSIDE,  /* `below` is set */
	LEAT_WALK_OUTSIDE, /* it exists, elsewhere; t->walk[0] is its real path */
	LEAT_WALK_NOWHERE, /* it does not exist, or cannot be searched */
};

/* Walk the first `length` bytes of `path` from `dirfd`. Under a guard; the
 * symlink at the end is followed, too. */
enum leat_walk leat_walk(struct leat_thread *t, int dirfd, const char *path, size_t length,
			 char *below);

#endif
