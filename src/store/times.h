/* Times of directories. What steps see of a directory that is in the store and on disk are the
 * times of its half in the store (docs/adr/0074): they change by what steps do, in whichever place
 * that is, and by nothing that leat does for itself. When all is on disk they are carried over. */
#ifndef LEAT_STORE_TIMES_H
#define LEAT_STORE_TIMES_H

#include "store/tree.h"

#include <time.h>

struct leat_shm;

enum { LEAT_QUIET_INODES = 4 };

/* Inodes that leat changes without it being seen: directories whose times stay as they are while
 * leat makes, renames or removes names in them, files that take the place of others. Times of
 * change, which nobody can set, are shown as they were (shm/ctimes.h). One at a time in all
 * threads: between begin and end there is nothing that takes time. */
struct leat_quiet {
	struct leat_shm *shm; /* borrowed */
	unsigned n;
	struct leat_quiet_inode {
		int fd; /* borrowed */
		dev_t dev;
		ino_t ino;
		bool keeps; /* its times, too */
		struct timespec times[2];
	} of[LEAT_QUIET_INODES];
};

/* `dir`: a descriptor, O_PATH or not; -1: none. `shm`: where clients look for times of change;
 * NULL: nobody is shown those of the directory. Any thread. */
void leat_quiet_begin(struct leat_quiet *q, struct leat_shm *shm, int dir);

/* Another directory, the same way; one that is there already is left as it is. */
void leat_quiet_add(struct leat_quiet *q, int dir);

/* What `fd` is of is shown with that time of change; its other times are right. */
void leat_quiet_show(struct leat_quiet *q, int fd, struct timespec ctime);

/* Who may not set the times of a directory leaves them as they have become. errno is preserved. */
void leat_quiet_end(const struct leat_quiet *q);

/* The time of change that steps are shown of what `st` is of. */
struct timespec leat_shown_ctime(const struct leat_shm *shm, const struct stat *st);

/* A step has made or removed the name `path` in `root`: the directory it is in shows that. */
void leat_tree_touch(struct leat_tree *t, enum leat_root root, const char *path);

/* What programs that leat does not follow have changed on disk is seen from now on. */
void leat_tree_times_from_disk(struct leat_tree *t);

/* Give the directories on disk the times that they have in the store. Those that are another's to
 * set keep what they have. */
void leat_tree_times_to_disk(struct leat_tree *t);

#endif
