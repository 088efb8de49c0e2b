/* Mounts of namespaces, and what files that processes of other namespaces see are called where the
 * tracer is. One thread at a time. */
#ifndef LEAT_TRACE_MOUNTS_H
#define LEAT_TRACE_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One line of a mountinfo; the strings lie in its view. */
struct leat_mounted_at {
	uint64_t id;
	unsigned major, minor;
	const char *root; /* what of the file system is mounted */
	const char *at;   /* below the root of whose mountinfo it is */
	const char *type, *source;
};

/* The mounts of one namespace as a process of it sees them. */
struct leat_mount_view {
	uint64_t space; /* inode of the namespace */
	char *root;     /* of that process, as the tracer sees it; "" if that is "/" */
	struct leat_mounted_at *mounts;
	size_t n;
};

/* A file's place in its file system. */
struct leat_fs_path {
	unsigned major, minor;
	const char *type;   /* of the file system, as mountinfo has it */
	const char *source; /* of the mount; NULL unknown */
	const char *path;   /* in the file system */
};

struct leat_mounts;

/* NULL: out of memory. */
struct leat_mounts *leat_mounts_new(void);
void leat_mounts_free(struct leat_mounts *m);

/* The inode of the mount namespace of a process or thread; 0 unknown. */
uint64_t leat_mounts_space_of(pid_t pid);

/* That of the tracer. */
uint64_t leat_mounts_own(const struct leat_mounts *m);

/* The path of a process's root directory as the tracer sees it, or as the namespace has it if that
 * is another one; "" if it is "/". The caller frees it; NULL unknown. */
char *leat_mounts_root_of(pid_t pid);

/* The mounts that the process, of that namespace, sees now. *changed: this function has not given
 * them out so before, whoever has read them. NULL: they cannot be read, nor have been before.
 * Borrowed until the next call on `m`. */
const struct leat_mount_view *leat_mounts_look(struct leat_mounts *m, uint64_t space, pid_t pid,
					       bool *changed);

/* Those that were seen last; NULL none. */
const struct leat_mount_view *leat_mounts_find(const struct leat_mounts *m, uint64_t space);

/* Are those that are known of a namespace those of that event, a number that changes whenever they
 * do? If they are not known to be, they are read from the process, unless it has ended. Who uses
 * this does so before each other use. */
bool leat_mounts_are_of(struct leat_mounts *m, uint64_t space, pid_t pid, uint64_t event);

/* Are files that the process, of that namespace, sees served by another process (FUSE)? */
bool leat_mounts_have_fuse(struct leat_mounts *m, uint64_t space, pid_t pid);

/* Mounts may have changed in other namespaces than the tracer's, of which the kernel does not tell:
 * their views are read anew before they are used. */
void leat_mounts_doubt(struct leat_mounts *m);

/* The name where the tracer is of what has that place in a file system; if it has none there, where
 * it is: "TYPE[MAJOR:MINOR]:PATH". The caller frees it; NULL: out of memory. */
char *leat_mounts_name_of(struct leat_mounts *m, const struct leat_fs_path *place);

/* The same, NULL if it has no name. */
char *leat_mounts_seen_by_us(struct leat_mounts *m, const struct leat_fs_path *place);

/* The name where the tracer is of `path`, which is relative to the root of that namespace, not to
 * that of a process. `pid` is a process that is in it; `mount` the id of the mount that the path is
 * in, 0 unknown. "" if that cannot be found out. The caller frees it; NULL: out of memory. */
char *leat_mounts_name_outside(struct leat_mounts *m, uint64_t space, pid_t pid, const char *path,
			       uint64_t mount);

/* `outside`, or NULL, after it was freed, if that is no other name than `inside`: as records have
 * it. */
char *leat_mounts_other_name(char *outside, const char *inside);

#endif
