/* Permanent files: from the store to the disk, whole or not at all. The calls
 * that copy may run in any thread. */
#ifndef LEAT_STORE_PERSIST_H
#define LEAT_STORE_PERSIST_H

#include "base/beneath.h"
#include "store/attributes.h"
#include "store/temporary.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* What is whole beside its destination, and has not its name yet. */
struct leat_persist {
	struct leat_beneath at; /* the destination */
	int fd;                 /* locked, so that nobody takes it for stale; -1: a symlink */
	bool is_seen;           /* by steps, as a name that is made: its directory has changed */
	int aside;              /* a directory where a name is not seen; -1: none; borrowed */
	char temporary[NAME_MAX + 1]; /* beside the destination; "": it has no name there */
};

/* Where a file is while it is not whole: beside its destination, or, so that nobody lists it there,
 * without a name, where the file system has such files. A tracer sees what a name becomes. */
enum leat_persist_by { LEAT_PERSIST_NAMED, LEAT_PERSIST_NAMELESS };

/* Copy the open regular file `in` to a temporary name beside `at`, or to none, which is taken over
 * (its name must stay till the end), with mode, owner, times and attributes (`list` as of
 * leat_copy_xattrs), synced; `name` is what warnings call it. On failure nothing is left, and
 * nothing is to be released. 0 or -errno. Any thread. */
int leat_persist_make_file(struct leat_persist *p, const struct leat_beneath *at, int in,
			   enum leat_list list, enum leat_persist_by by, const char *name);
/* The same for a symlink to `target` of that owner. Any thread. */
int leat_persist_make_symlink(struct leat_persist *p, const struct leat_beneath *at,
			      const char *target, uid_t uid, gid_t gid);
/* The same for another name, a hard link, of the file `of`. Any thread. */
int leat_persist_make_link(struct leat_persist *p, const struct leat_beneath *at,
			   const struct leat_beneath *of);
/* Give it its name, whatever has that, or leave nothing; the directory keeps its times. 0 or
 * -errno. Who may want the name for something else meanwhile calls this where it is known who has
 * it. If p->temporary is not "" afterwards it was there for a moment, or longer. */
int leat_persist_take(struct leat_persist *p);
/* It is not wanted any more. */
void leat_persist_drop(struct leat_persist *p);
/* Make the file `path` below `top` and take it. 0 or -errno. Any thread. */
int leat_persist_file(int top, const char *path, int in);

/* Remove from the directory `dir` what a daemon that was killed did not get to rename; what a
 * living one is at stays. Any thread. */
void leat_persist_clean_stale(int dir);

/* Sync the directory that holds `path`, if it is still there, so that its renames last. 0 or
 * -errno. Any thread. */
int leat_persist_sync_parent(int disk_fd, const char *path);

/* Give `path` below `disk_fd` owner and times of `st` where they differ, and the mode of `st` and
 * extended attributes of the file `like` (-1: both stay as they are, which may be less than `st`
 * has if the list of who may is lost); `only`: unless another inode is there. `list` and `name` as
 * of leat_copy_xattrs. 0 or -errno (-ESTALE: another is). */
int leat_persist_meta(int disk_fd, const char *path, const struct stat *st,
		      const struct leat_inode *only, int like, enum leat_list list,
		      const char *name);

#endif
