/* Operations on names. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Calls on two names, of which the first is wrong: which of the errors comes is nobody's
 * business. */
static void result_of_two(struct world *w, bool first, long rc)
{
	if (first || rc >= 0)
		result(w, rc);
	else
		say(w, " = -1");
}

static bool is_there(int dirfd, const char *path, int flags)
{
	struct stat st;

	return fstatat(dirfd, path, &st, flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

/* "name(dirfd, path" */
static const char *say_at(struct world *w, const char *call, int *dirfd)
{
	const char *path = pick_path(w);

	*dirfd = pick_dirfd(w);
	say(w, "%s(%d, ", call, *dirfd);
	say_path(w, path);
	return path;
}

static void keep_few(struct world *w)
{
	int n = 0, fd;

	for (fd = 3; fd < MAX_FD; fd++)
		n += w->open[fd];
	if (n < 10)
		return;
	fd = pick_fd(w);
	say(w, " close(%d)", fd);
	result(w, close(fd));
	closed(w, fd);
}

static int pick_flags(struct world *w)
{
	static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR};
	static const int more[] = {O_APPEND,   O_TRUNC,   O_EXCL,  O_DIRECTORY,
				   O_NOFOLLOW, O_CLOEXEC, O_SYNC,  O_NONBLOCK,
				   O_NOATIME,  O_PATH,    O_DSYNC, O_NOCTTY};
	int flags = PICK(w, modes);

	if (chance(w, 60))
		flags |= O_CREAT;
	if (chance(w, 25))
		flags |= PICK(w, ((int[]){O_APPEND, O_TRUNC, O_EXCL, O_CLOEXEC}));
	while (!w->tame && chance(w, 40))
		flags |= PICK(w, more);
	if (!w->tame && chance(w, 4))
		flags |= O_ACCMODE; /* neither reading nor writing */
	return flags;
}

static void do_open(struct world *w)
{
	int dirfd, flags = pick_flags(w), fd;
	unsigned mode = PICK(w, ((unsigned[]){0644, 0666, 0600, 0755, 0400, 0444, 0, 0600}));
	const char *path;

	path = say_at(w, "open", &dirfd);
	say(w, ", %#o, %#o)", flags, mode);
	fd = dirfd == AT_FDCWD && chance(w, 50) ? open(path, flags, mode)
						: openat(dirfd, path, flags, mode);
	opened(w, (int)result(w, fd));
	keep_few(w);
}

static void do_open_directory(struct world *w)
{
	int dirfd, fd;
	const char *path = say_at(w, "opendir", &dirfd);

	fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | (chance(w, 50) ? O_CLOEXEC : 0));
	opened(w, (int)result(w, fd));
	keep_few(w);
}

static void do_unlink(struct world *w)
{
	int dirfd, flags = chance(w, 20) ? AT_REMOVEDIR : 0;
	const char *path = say_at(w, "unlink", &dirfd);

	say(w, ", %d)", flags);
	result(w, unlinkat(dirfd, path, flags));
}

static void do_rmdir(struct world *w)
{
	const char *path = pick_path(w);

	say(w, "rmdir ");
	say_path(w, path);
	result(w, chance(w, 80) ? rmdir(path) : remove(path));
}

static void do_mkdir(struct world *w)
{
	int dirfd;
	unsigned mode = PICK(w, ((unsigned[]){0755, 0777, 0700, 01777, 02755, 0555}));
	const char *path = say_at(w, "mkdir", &dirfd);

	say(w, ", %#o)", mode);
	result(w, mkdirat(dirfd, path, mode));
}

static void do_rename(struct world *w)
{
	static const unsigned flags[] = {0, 0, 0, 0, 0, RENAME_NOREPLACE, 64};
	int from_fd, to_fd = pick_dirfd(w);
	unsigned how = w->tame ? 0 : PICK(w, flags);
	const char *from = say_at(w, "rename", &from_fd), *to = pick_path(w);
	bool first = is_there(from_fd, from, 0);

	say(w, ", %d, ", to_fd);
	say_path(w, to);
	say(w, ", %u)", how);
	if (!how && from_fd == AT_FDCWD && to_fd == AT_FDCWD)
		result_of_two(w, first, rename(from, to));
	else
		result_of_two(w, first, renameat2(from_fd, from, to_fd, to, how));
}

static void do_link(struct world *w)
{
	int from_fd, to_fd = pick_dirfd(w), flags = chance(w, 30) ? AT_SYMLINK_FOLLOW : 0;
	const char *from = say_at(w, "link", &from_fd), *to = pick_path(w);
	bool first = is_there(from_fd, from, flags);

	say(w, ", %d, ", to_fd);
	say_path(w, to);
	say(w, ", %d)", flags);
	result_of_two(w, first, linkat(from_fd, from, to_fd, to, flags));
}

static void do_symlink(struct world *w)
{
	int dirfd;
	char target[600];
	const char *path, *name = pick_name(w);

	if (chance(w, 30))
		snprintf(target, sizeof(target), "%s/%s", w->root, name);
	else
		snprintf(target, sizeof(target), "%s%s", chance(w, 10) ? "./" : "", name);
	path = say_at(w, "symlink", &dirfd);
	say(w, ") to ");
	say_path(w, target);
	result(w, symlinkat(target, dirfd, path));
}

static void do_readlink(struct world *w)
{
	char target[1024];
	int dirfd;
	const char *path = say_at(w, "readlink", &dirfd);
	long n = readlinkat(dirfd, path, target, sizeof(target) - 1);

	/* The length would tell the root's. */
	if (n < 0) {
		result(w, n);
		return;
	}
	target[n] = 0;
	say_path(w, target);
}

static void do_stat(struct world *w)
{
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH};
	struct stat st;
	int dirfd, how = PICK(w, flags);
	const char *path = say_at(w, "stat", &dirfd);

	say(w, ", %d)", how);
	if (result(w, fstatat(dirfd, path, &st, how)) == 0)
		say_stat(w, &st);
}

static void do_statx(struct world *w)
{
	struct statx st;
	int dirfd, how = chance(w, 50) ? AT_SYMLINK_NOFOLLOW : 0;
	const char *path = say_at(w, "statx", &dirfd);

	if (result(w, statx(dirfd, path, how, STATX_BASIC_STATS, &st)) < 0)
		return;
	say(w, " %o", st.stx_mode);
	if (S_ISREG(st.stx_mode))
		say(w, " nlink %u size %llu", st.stx_nlink, (unsigned long long)st.stx_size);
}

static void do_access(struct world *w)
{
	static const int modes[] = {F_OK, R_OK, W_OK, X_OK, R_OK | W_OK};
	int dirfd, mode = PICK(w, modes), flags = chance(w, 30) ? AT_EACCESS : 0;
	const char *path = say_at(w, "access", &dirfd);

	say(w, ", %d)", mode);
	if (dirfd == AT_FDCWD && chance(w, 50))
		result(w, access(path, mode));
	else
		result(w, faccessat(dirfd, path, mode, flags));
}

static void do_chmod(struct world *w)
{
	int dirfd;
	unsigned mode = PICK(w, ((unsigned[]){0644, 0600, 0755, 0, 0444, 04755, 02644, 01777}));
	const char *path;

	if (chance(w, 30)) {
		dirfd = pick_fd(w);
		say(w, "fchmod(%d, %#o)", dirfd, mode);
		result(w, fchmod(dirfd, mode));
		return;
	}
	path = say_at(w, "chmod", &dirfd);
	say(w, ", %#o)", mode);
	result(w, fchmodat(dirfd, path, mode, 0));
}

static void do_chown(struct world *w)
{
	static const unsigned ids[] = {0, 1, 65534, (unsigned)-1};
	unsigned uid = PICK(w, ids), gid = PICK(w, ids);
	int dirfd, flags = chance(w, 30) ? AT_SYMLINK_NOFOLLOW : 0;
	const char *path;

	if (chance(w, 30)) {
		dirfd = pick_fd(w);
		say(w, "fchown(%d, %d, %d)", dirfd, (int)uid, (int)gid);
		result(w, fchown(dirfd, uid, gid));
		return;
	}
	path = say_at(w, "chown", &dirfd);
	say(w, ", %d, %d, %d)", (int)uid, (int)gid, flags);
	result(w, fchownat(dirfd, path, uid, gid, flags));
}

static void do_utimens(struct world *w)
{
	long old = 1000 + (long)pick(w, 1000000);
	struct timespec times[2] = {{old, 5}, {old + 1, (long)pick(w, 1000) * 1000000}};
	int dirfd, flags = chance(w, 30) ? AT_SYMLINK_NOFOLLOW : 0;
	const char *path;

	if (chance(w, 20))
		times[1].tv_nsec = chance(w, 50) ? UTIME_NOW : UTIME_OMIT;
	if (chance(w, 30)) {
		dirfd = pick_fd(w);
		say(w, "futimens(%d, %ld)", dirfd, times[1].tv_nsec);
		result(w, futimens(dirfd, times));
		return;
	}
	path = say_at(w, "utimensat", &dirfd);
	say(w, ", %ld)", times[1].tv_nsec);
	result(w, utimensat(dirfd, path, times, flags));
}

static void do_chdir(struct world *w)
{
	const char *path = chance(w, 40) ? w->root : pick_path(w);
	int fd = pick_fd(w);

	if (chance(w, 30)) {
		say(w, "fchdir(%d)", fd);
		result(w, fchdir(fd));
		return;
	}
	say(w, "chdir ");
	say_path(w, path);
	result(w, chdir(path));
}

static void do_getcwd(struct world *w)
{
	char path[4096];

	say(w, "getcwd");
	if (!getcwd(path, sizeof(path)))
		result(w, -1);
	else
		say_path(w, path);
}

static void do_realpath(struct world *w)
{
	char real[4096];
	const char *path = pick_path(w);

	say(w, "realpath ");
	say_path(w, path);
	if (!realpath(path, real)) {
		result(w, -1);
		return;
	}
	say(w, " is ");
	say_path(w, real);
}

/* The kernel refuses xattrs on symlinks and O_PATH descriptors alike. */
static void do_xattr(struct world *w)
{
	char value[64];
	const char *path = pick_path(w);
	int fd = pick_fd(w), n = snprintf(value, sizeof(value), "v%u", w->step);
	int flags = PICK(w, ((int[]){0, 0, XATTR_CREATE, XATTR_REPLACE}));

	say(w, "xattr ");
	say_path(w, path);
	say(w, " %d ", fd);
	switch (pick(w, 6)) {
	case 0:
		result(w, setxattr(path, "user.x", value, (size_t)n, flags));
		break;
	case 1:
		result(w, fsetxattr(fd, "user.x", value, (size_t)n, flags));
		break;
	case 2:
		result(w, lgetxattr(path, "user.x", value, sizeof(value)));
		break;
	case 3:
		result(w, fgetxattr(fd, "user.x", value, sizeof(value)));
		break;
	case 4:
		result(w, chance(w, 50) ? removexattr(path, "user.x") : fremovexattr(fd, "user.x"));
		break;
	default:
		result(w, listxattr(path, value, sizeof(value)));
	}
}

/* A FIFO lives for one step: who opens it unprepared sleeps for ever. */
static void do_fifo(struct world *w)
{
	char back[8] = "";
	struct stat st;
	int fd;

	say(w, "fifo");
	if (result(w, chance(w, 50) ? mkfifo("fifo", 0640) : mknod("fifo", S_IFIFO | 0600, 0)) < 0)
		return;
	fd = open("fifo", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	result(w, fd);
	result(w, write(fd, "through", 7));
	result(w, read(fd, back, 7));
	if (lstat("fifo", &st) == 0)
		say_stat(w, &st);
	say(w, " %s", back);
	close(fd);
	result(w, unlink("fifo"));
}

const struct operation name_operations[] = {
	{120, do_open},   {20, do_open_directory},
	{35, do_unlink},  {10, do_rmdir},
	{40, do_mkdir},   {45, do_rename},
	{25, do_link},    {0, do_link},
	{20, do_symlink}, {10, do_readlink},
	{35, do_stat},    {12, do_statx},
	{15, do_access},  {12, do_chmod},
	{6, do_chown},    {12, do_utimens},
	{20, do_chdir},   {10, do_getcwd},
	{8, do_realpath}, {12, do_xattr},
	{4, do_fifo},     {0, NULL},
};
