/* Calls on a path below a directory that no symlink leads out of, for whoever has more rights than
 * those who may change what lies there. `top` is that directory's descriptor, `path` relative to it
 * and canonical ("" and ".": itself): a component that is a symlink, of whoever put it there just
 * now, is -ELOOP, ".." is -EXDEV. A last component that is a symlink is never followed.
 *
 * With `top` AT_FDCWD the path is any path, and the kernel's affair: only as the user who named it.
 * Any thread. */
#ifndef LEAT_BASE_BENEATH_H
#define LEAT_BASE_BENEATH_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* A name in a directory that is held. */
struct leat_beneath {
	int dir;
	const char *name; /* points into the path, or is "." */
	bool owned;       /* `dir` is to be closed; else it is the top */
};

/* Which file is behind a name. */
struct leat_inode {
	dev_t dev;
	ino_t ino; /* 0: none */
};

static inline bool leat_inode_is(const struct leat_inode *i, const struct stat *st)
{
	return i->dev == st->st_dev && i->ino == st->st_ino;
}

/* Find the directory that holds `path`. 0 or -errno; then nothing is to be released. */
int leat_beneath_find(int top, const char *path, struct leat_beneath *b);
void leat_beneath_release(struct leat_beneath *b);

/* The directory `name` (one component, no "..") of the directory `fd`: an O_PATH descriptor or
 * -errno. */
int leat_beneath_enter(int fd, const char *name);

/* Can the kernel say what the user may whom the calling thread acts as (Linux 5.8)? */
bool leat_beneath_checks_rights(void);

/* A descriptor with O_NOFOLLOW, O_NONBLOCK, O_NOCTTY and O_CLOEXEC, or -errno. */
int leat_beneath_open(int top, const char *path, int flags, mode_t mode);
/* The same for a regular file only: -EISDIR or -EINVAL for anything else, on which nothing is done
 * that a device or FIFO would notice. */
int leat_beneath_open_regular(int top, const char *path, int flags);
/* The same, not opened yet: an O_PATH descriptor, and what stat says. */
int leat_beneath_hold_regular(int top, const char *path, struct stat *st);
/* What an O_PATH descriptor is of, opened with `flags`. The descriptor or -errno. */
int leat_beneath_reopen(int fd, int flags);

/* As the calls of these names, 0 or -errno. */
int leat_beneath_stat(int top, const char *path, struct stat *st);
int leat_beneath_access(int top, const char *path, int mode); /* of the effective user */
int leat_beneath_mkdir(int top, const char *path, mode_t mode);
int leat_beneath_symlink(const char *target, int top, const char *path);
int leat_beneath_unlink(int top, const char *path, int flags);
int leat_beneath_rename(int from_top, const char *from, int to_top, const char *to, unsigned flags);
int leat_beneath_link(int from_top, const char *from, int to_top, const char *to);
int leat_beneath_times(int top, const char *path, const struct timespec times[2]);
/* The length, or -errno; not terminated. */
ssize_t leat_beneath_readlink(int top, const char *path, char *out, size_t size);

/* Mode, owner and times of what `fd` is open on, also if that is an O_PATH descriptor. 0 or
 * -errno. */
int leat_beneath_chmod(int fd, mode_t mode);
int leat_beneath_chown(int fd, uid_t uid, gid_t gid);
int leat_beneath_set_times(int fd, const struct timespec times[2]);

#endif
