/* probe_access read|write FILE [LINK]: try every way to use FILE that only looks, or every way
 * that changes something, and print one line each: the way, and "ok" or the error's name. LINK is
 * a symlink elsewhere that leads to FILE. FILE is relative to the working directory, which must
 * have a directory `sub`. Statically linked it goes through a mount. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *file, *link_to_it;
static char absolute[2 * PATH_MAX];

static int close_it(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

static int open_with(const char *path, int flags)
{
	return close_it(open(path, flags, 0644));
}

/* "DIR/FILE" opened with `flags`. */
static int open_below(const char *dir, int flags)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return open_with(path, flags);
}

/* Closes; the result and errno are the attempt's. */
static int done_with(int fd, int rc)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return rc;
}

/* The symlink that leads to the file, or the file if there is none. */
static const char *through(void)
{
	return link_to_it ? link_to_it : file;
}

/* ---- looking ---- */

static int try_open(void)
{
	return open_with(file, O_RDONLY);
}

static int try_absolute(void)
{
	return open_with(absolute, O_RDONLY);
}

static int openat_of(int flags)
{
	int dir = open(".", flags | O_DIRECTORY);

	return dir < 0 ? -1 : done_with(dir, close_it(openat(dir, file, O_RDONLY)));
}

static int try_openat(void)
{
	return openat_of(O_RDONLY);
}

static int try_openat_path_dir(void)
{
	return openat_of(O_PATH);
}

static int try_dots(void)
{
	return open_below("sub/..", O_RDONLY);
}

static int try_proc_cwd(void)
{
	return open_below("/proc/self/cwd", O_RDONLY);
}

static int try_proc_fd(void)
{
	char path[64];
	int dir = open("sub", O_RDONLY | O_DIRECTORY);

	if (dir < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/..", dir);
	return done_with(dir, open_below(path, O_RDONLY));
}

static int try_chdir(void)
{
	char path[PATH_MAX];
	int rc, saved;

	if (chdir("sub") < 0)
		return -1;
	snprintf(path, sizeof(path), "../%s", file);
	rc = open_with(path, O_RDONLY);
	saved = errno;
	if (chdir("..") < 0)
		return -1;
	errno = saved;
	return rc;
}

static int try_fchdir(void)
{
	char path[PATH_MAX];
	int dir = open("sub", O_PATH | O_DIRECTORY), home = open(".", O_PATH | O_DIRECTORY);
	int rc = -1, saved;

	snprintf(path, sizeof(path), "../%s", file);
	if (dir >= 0 && home >= 0 && fchdir(dir) == 0)
		rc = open_with(path, O_RDONLY);
	saved = errno;
	if (fchdir(home) < 0)
		return -1;
	close(dir);
	close(home);
	errno = saved;
	return rc;
}

static int try_link(void)
{
	return open_with(through(), O_RDONLY);
}

static int try_link_path_only(void)
{
	return open_with(through(), O_PATH);
}

static int try_link_exclusive(void)
{
	return open_with(through(), O_RDONLY | O_EXCL);
}

static int try_link_stat(void)
{
	struct stat st;

	return stat(through(), &st);
}

static int try_link_access(void)
{
	return access(through(), R_OK);
}

static int try_link_faccessat(void)
{
	return faccessat(AT_FDCWD, through(), R_OK, 0);
}

static int try_link_listxattr(void)
{
	char names[256];

	return listxattr(through(), names, sizeof(names)) < 0 ? -1 : 0;
}

static int try_path_only(void)
{
	return open_with(file, O_PATH);
}

static int try_stat(void)
{
	struct stat st;

	return stat(file, &st);
}

static int try_lstat(void)
{
	struct stat st;

	return lstat(file, &st);
}

static int try_statx(void)
{
	struct statx st;

	return statx(AT_FDCWD, file, 0, STATX_ALL, &st);
}

static int try_access(void)
{
	return access(file, F_OK);
}

static int try_faccessat(void)
{
	return faccessat(AT_FDCWD, file, R_OK, AT_EACCESS);
}

static int try_fopen(void)
{
	FILE *f = fopen(file, "r");

	return f ? fclose(f) : -1;
}

static int try_realpath(void)
{
	char out[PATH_MAX];

	return realpath(file, out) ? 0 : -1;
}

static int try_getxattr(void)
{
	char value[16];

	/* That there is no such attribute is an answer, too. */
	return getxattr(file, "user.none", value, sizeof(value)) < 0 && errno != ENODATA &&
			       errno != EOPNOTSUPP
		       ? -1
		       : 0;
}

static int try_listxattr(void)
{
	char names[256];

	return listxattr(file, names, sizeof(names)) < 0 ? -1 : 0;
}

static int try_watch(void)
{
	int fd = inotify_init1(IN_CLOEXEC);

	return fd < 0 ? -1 : done_with(fd, inotify_add_watch(fd, file, IN_MODIFY) < 0 ? -1 : 0);
}

static int try_exec(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(file, file, (char *)NULL);
		_exit(errno);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

/* ---- changing ---- */

static int try_write(void)
{
	return open_with(file, O_WRONLY);
}

static int try_read_write(void)
{
	return open_with(file, O_RDWR);
}

static int try_append(void)
{
	return open_with(file, O_WRONLY | O_APPEND);
}

static int try_cut_open(void)
{
	return open_with(file, O_RDONLY | O_TRUNC);
}

static int try_create(void)
{
	return open_with(file, O_CREAT | O_WRONLY | O_TRUNC);
}

static int try_write_through_link(void)
{
	return open_with(through(), O_WRONLY);
}

static int try_link_truncate(void)
{
	return truncate(through(), 0);
}

static int try_link_chmod(void)
{
	return chmod(through(), 0600);
}

static int try_link_times(void)
{
	return utimensat(AT_FDCWD, through(), NULL, 0);
}

static int try_link_setxattr(void)
{
	return setxattr(through(), "user.mine", "x", 1, 0);
}

/* A second name elsewhere for what the symlink leads to. */
static int try_link_link(void)
{
	char to[PATH_MAX];

	snprintf(to, sizeof(to), "../elsewhere/second-%d", (int)getpid());
	return linkat(AT_FDCWD, through(), AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

static int try_truncate(void)
{
	return truncate(file, 0);
}

static int try_unlink(void)
{
	return unlink(file);
}

static int try_rename(void)
{
	return rename(file, "mine");
}

static int try_rename_out(void)
{
	char to[PATH_MAX + 8];

	snprintf(to, sizeof(to), "../taken-%d", (int)getpid());
	return rename(file, to);
}

/* What replaces it is ours. */
static int try_rename_onto(void)
{
	return close_it(creat("mine", 0644)) ? -1 : rename("mine", file);
}

static int try_link_from(void)
{
	return link(file, "mine2");
}

static int try_chmod(void)
{
	return chmod(file, 0600);
}

static int try_chown(void)
{
	return chown(file, getuid(), getgid());
}

static int try_lchown(void)
{
	return lchown(file, getuid(), getgid());
}

static int try_times(void)
{
	return utimensat(AT_FDCWD, file, NULL, 0);
}

static int try_setxattr(void)
{
	return setxattr(file, "user.mine", "x", 1, 0);
}

static int try_removexattr(void)
{
	return removexattr(file, "user.mine");
}

/* By a descriptor that may read; of a file that may not be read there is none. */
static int reader(void)
{
	return open(file, O_RDONLY);
}

static int try_fchmod(void)
{
	int fd = reader();

	return fd < 0 ? -1 : done_with(fd, fchmod(fd, 0600));
}

static int try_fchown(void)
{
	int fd = reader();

	return fd < 0 ? -1 : done_with(fd, fchown(fd, getuid(), getgid()));
}

static int try_futimens(void)
{
	int fd = reader();

	return fd < 0 ? -1 : done_with(fd, futimens(fd, NULL));
}

static int try_fsetxattr(void)
{
	int fd = reader();

	return fd < 0 ? -1 : done_with(fd, fsetxattr(fd, "user.mine", "x", 1, 0));
}

static int try_reopen(void)
{
	char path[64];
	int fd = reader();

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return done_with(fd, open_with(path, O_RDWR));
}

/* By the descriptor alone, and by its name. */
static int try_link_fd(void)
{
	char path[64], to[PATH_MAX];
	int fd = reader();

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(to, sizeof(to), "../elsewhere/third-%d", (int)getpid());
	if (linkat(fd, "", AT_FDCWD, to, AT_EMPTY_PATH) == 0)
		return done_with(fd, 0);
	return done_with(fd, linkat(AT_FDCWD, path, AT_FDCWD, to, AT_SYMLINK_FOLLOW));
}

static int try_chmod_proc(void)
{
	char path[64];
	int fd = reader();

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return done_with(fd, chmod(path, 0600));
}

#define WAY(name)                                                                                  \
	{                                                                                          \
#name, try_##name                                                                  \
	}

static const struct way {
	const char *name;
	int (*attempt)(void);
} looks[] = {WAY(open),      WAY(absolute),    WAY(openat),         WAY(openat_path_dir),
	     WAY(dots),      WAY(proc_cwd),    WAY(proc_fd),        WAY(chdir),
	     WAY(fchdir),    WAY(link),        WAY(path_only),      WAY(stat),
	     WAY(lstat),     WAY(statx),       WAY(access),         WAY(faccessat),
	     WAY(fopen),     WAY(realpath),    WAY(getxattr),       WAY(listxattr),
	     WAY(watch),     WAY(exec),        WAY(link_path_only), WAY(link_exclusive),
	     WAY(link_stat), WAY(link_access), WAY(link_faccessat), WAY(link_listxattr)},
  changes[] = {WAY(write),      WAY(read_write),  WAY(append),
	       WAY(cut_open),   WAY(create),      WAY(write_through_link),
	       WAY(truncate),   WAY(unlink),      WAY(rename),
	       WAY(rename_out), WAY(rename_onto), WAY(link_from),
	       WAY(chmod),      WAY(chown),       WAY(lchown),
	       WAY(times),      WAY(setxattr),    WAY(removexattr),
	       WAY(fchmod),     WAY(fchown),      WAY(link_truncate),
	       WAY(link_chmod), WAY(link_times),  WAY(link_setxattr),
	       WAY(link_link),  WAY(link_fd),     WAY(futimens),
	       WAY(fsetxattr),  WAY(reopen),      WAY(chmod_proc)};

static void try_all(const struct way *ways, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		errno = 0;
		if (ways[i].attempt() == 0)
			printf("%s ok\n", ways[i].name);
		else
			printf("%s %s\n", ways[i].name, strerrorname_np(errno));
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	char cwd[PATH_MAX];

	if (argc < 3 || !getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "usage: probe_access read|write FILE [LINK]\n");
		return 2;
	}
	file = argv[2];
	link_to_it = argc > 3 ? argv[3] : NULL;
	snprintf(absolute, sizeof(absolute), "%s/%s", cwd, file);
	if (strcmp(argv[1], "read") == 0)
		try_all(looks, sizeof(looks) / sizeof(*looks));
	else
		try_all(changes, sizeof(changes) / sizeof(*changes));
	return 0;
}
