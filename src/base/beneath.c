#include "base/beneath.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HOLD = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static int result(long rc)
{
	return rc < 0 ? -errno : 0;
}

int leat_beneath_enter(int fd, const char *name)
{
	int next = openat(fd, name, HOLD);

	/* The kernel says ENOTDIR of a symlink here; openat2 says ELOOP. */
	if (next < 0 && errno == ENOTDIR) {
		struct stat st;

		errno = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)
				? ELOOP
				: ENOTDIR;
	}
	return next < 0 ? -errno : next;
}

/* Before Linux 5.6, and where a filter refuses openat2. */
static int walk(int top, char *dir)
{
	int fd = *dir == '/' ? -1 : openat(top, ".", HOLD);
	int rc = *dir == '/' ? -EXDEV : fd < 0 ? -errno : 0;
	char *rest = NULL;

	for (char *name = strtok_r(dir, "/", &rest); !rc && name;
	     name = strtok_r(NULL, "/", &rest)) {
		int next = strcmp(name, "..") == 0 ? -EXDEV : leat_beneath_enter(fd, name);

		rc = next < 0 ? next : 0;
		leat_close(&fd);
		fd = next;
	}
	return rc ? rc : fd;
}

static int hold(int top, char *dir)
{
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				     .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	long fd;

	if (top == AT_FDCWD)
		fd = openat(top, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	else
		fd = syscall(SYS_openat2, top, dir, &how, sizeof(how));
	if (fd < 0 && top != AT_FDCWD && (errno == ENOSYS || errno == EPERM))
		return walk(top, dir);
	return fd < 0 ? -errno : (int)fd;
}

int leat_beneath_find(int top, const char *path, struct leat_beneath *b)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	char dir[PATH_MAX];
	int fd;

	*b = (struct leat_beneath){.dir = top, .name = slash ? slash + 1 : path};
	if (!*b->name)
		b->name = ".";
	if (strcmp(b->name, "..") == 0)
		return top == AT_FDCWD ? 0 : -EXDEV;
	if (!slash)
		return 0;
	if (length >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, length);
	strcpy(dir + length, length ? "" : "/");
	fd = hold(top, dir);
	if (fd < 0)
		return fd;
	b->dir = fd;
	b->owned = true;
	return 0;
}

void leat_beneath_release(struct leat_beneath *b)
{
	if (b->owned)
		leat_close(&b->dir);
	b->owned = false;
}

/* The end of a call on what was found. */
static int done(struct leat_beneath *b, long rc)
{
	int error = result(rc);

	leat_beneath_release(b);
	return error;
}

static int open_by_parent(int top, const char *path, int flags, mode_t mode)
{
	struct leat_beneath b;
	int fd, rc = leat_beneath_find(top, path, &b);

	if (rc)
		return rc;
	fd = openat(b.dir, b.name, flags, mode);
	rc = done(&b, fd);
	return rc ? rc : fd;
}

int leat_beneath_open(int top, const char *path, int flags, mode_t mode)
{
	struct open_how how = {.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	long fd;

	flags |= O_NOFOLLOW | O_CLOEXEC;
	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	how.flags = (uint64_t)flags;
	how.mode = flags & O_CREAT ? mode : 0;
	if (top == AT_FDCWD)
		return open_by_parent(top, path, flags, mode);
	fd = syscall(SYS_openat2, top, *path ? path : ".", &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_parent(top, path, flags, mode);
	return fd < 0 ? -errno : (int)fd;
}

int leat_beneath_reopen(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opening a device may do something: it is looked at first. */
int leat_beneath_hold_regular(int top, const char *path, struct stat *st)
{
	int held = leat_beneath_open(top, path, O_PATH, 0), rc;

	if (held < 0)
		return held;
	if (fstat(held, st) < 0)
		rc = -errno;
	else
		rc = S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	if (rc)
		leat_close(&held);
	return rc ? rc : held;
}

int leat_beneath_open_regular(int top, const char *path, int flags)
{
	struct stat st;
	int held = leat_beneath_hold_regular(top, path, &st), fd;

	if (held < 0)
		return held;
	fd = leat_beneath_reopen(held, flags);
	leat_close(&held);
	return fd;
}

int leat_beneath_stat(int top, const char *path, struct stat *st)
{
	struct leat_beneath b;
	int rc = leat_beneath_find(top, path, &b);

	return rc ? rc : done(&b, fstatat(b.dir, b.name, st, AT_SYMLINK_NOFOLLOW));
}

int leat_beneath_access(int top, const char *path, int mode)
{
	struct leat_beneath b;
	long ok;
	int rc = leat_beneath_find(top, path, &b);

	if (rc)
		return rc;
	ok = syscall(SYS_faccessat2, b.dir, b.name, mode, AT_EACCESS | AT_SYMLINK_NOFOLLOW);
	/* glibc asks for the process's user then, who is this thread's. */
	if (ok < 0 && errno == ENOSYS)
		ok = faccessat(b.dir, b.name, mode, AT_EACCESS);
	return done(&b, ok);
}

int leat_beneath_mkdir(int top, const char *path, mode_t mode)
{
	struct leat_beneath b;
	int rc = leat_beneath_find(top, path, &b);

	return rc ? rc : done(&b, mkdirat(b.dir, b.name, mode));
}

int leat_beneath_symlink(const char *target, int top, const char *path)
{
	struct leat_beneath b;
	int rc = leat_beneath_find(top, path, &b);

	return rc ? rc : done(&b, symlinkat(target, b.dir, b.name));
}

int leat_beneath_unlink(int top, const char *path, int flags)
{
	struct leat_beneath b;
	int rc = leat_beneath_find(top, path, &b);

	return rc ? rc : done(&b, unlinkat(b.dir, b.name, flags));
}

/* Two names of one call. */
static int find_both(int from_top, const char *from, int to_top, const char *to,
		     struct leat_beneath v[2])
{
	int rc = leat_beneath_find(from_top, from, &v[0]);

	if (rc)
		return rc;
	rc = leat_beneath_find(to_top, to, &v[1]);
	if (rc)
		leat_beneath_release(&v[0]);
	return rc;
}

static int done_both(struct leat_beneath v[2], long rc)
{
	int error = result(rc);

	leat_beneath_release(&v[0]);
	leat_beneath_release(&v[1]);
	return error;
}

int leat_beneath_rename(int from_top, const char *from, int to_top, const char *to, unsigned flags)
{
	struct leat_beneath v[2];
	int rc = find_both(from_top, from, to_top, to, v);

	return rc ? rc : done_both(v, renameat2(v[0].dir, v[0].name, v[1].dir, v[1].name, flags));
}

int leat_beneath_link(int from_top, const char *from, int to_top, const char *to)
{
	struct leat_beneath v[2];
	int rc = find_both(from_top, from, to_top, to, v);

	return rc ? rc : done_both(v, linkat(v[0].dir, v[0].name, v[1].dir, v[1].name, 0));
}

int leat_beneath_times(int top, const char *path, const struct timespec times[2])
{
	struct leat_beneath b;
	int rc = leat_beneath_find(top, path, &b);

	return rc ? rc : done(&b, utimensat(b.dir, b.name, times, AT_SYMLINK_NOFOLLOW));
}

ssize_t leat_beneath_readlink(int top, const char *path, char *out, size_t size)
{
	struct leat_beneath b;
	ssize_t n;
	int rc = leat_beneath_find(top, path, &b);

	if (rc)
		return rc;
	n = readlinkat(b.dir, b.name, out, size);
	rc = done(&b, n);
	return rc ? rc : n;
}

int leat_beneath_chmod(int fd, mode_t mode)
{
	char path[32];

	if (fchmod(fd, mode) == 0)
		return 0;
	if (errno != EBADF)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return result(chmod(path, mode));
}

int leat_beneath_chown(int fd, uid_t uid, gid_t gid)
{
	return result(fchownat(fd, "", uid, gid, AT_EMPTY_PATH));
}

int leat_beneath_set_times(int fd, const struct timespec times[2])
{
	char path[32];

	if (utimensat(fd, "", times, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOENT)
		return -errno;
	/* before Linux 5.8 */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return result(utimensat(AT_FDCWD, path, times, 0));
}

bool leat_beneath_checks_rights(void)
{
	return syscall(SYS_faccessat2, AT_FDCWD, "/", F_OK, AT_EACCESS) == 0;
}
