/* Times of directories. What steps see of a directory that is in the store and on disk are the
 * times of its half in the store (docs/adr/0074): they change by what steps do, in whichever place
 * that is, and by nothing that leat does for itself. When all is on disk they are carried over. */
#ifndef LEAT_STORE_TIMES_H
#define LEAT_STORE_TIMES_H

#include "store/tree.h"

#include <time.h>

/* A directory whose times stay as they are while leat makes, renames or removes names in it. One at
 * a time in all threads: between the two calls there is nothing that takes time. */
struct leat_quiet {
	int dir; /* borrowed */
	bool known;
	struct timespec times[2];
};

/* `dir`: a descriptor, O_PATH or not; -1: none. Any thread. */
void leat_quiet_begin(struct leat_quiet *q, int dir);
/* Who may not set its times leaves them as they have become. errno is preserved. */
void leat_quiet_end(const struct leat_quiet *q);

/* A step has made or removed the name `path` in `root`: the directory it is in shows that. */
void leat_tree_touch(struct leat_tree *t, enum leat_root root, const char *path);

/* What programs that leat does not follow have changed on disk is seen from now on. */
void leat_tree_times_from_disk(struct leat_tree *t);

/* Give the directories on disk the times that they have in the store. Those that are another's to
 * set keep what they have. */
void leat_tree_times_to_disk(struct leat_tree *t);

#endif
