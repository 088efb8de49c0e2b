#include "store/persist.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/str.h"
#include "store/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 16
/* A symlink is there for a moment only before it is renamed. */
#define STALE_S 60

static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

enum { TAIL = 7 }; /* of a temporary's name: a dot and six letters */

bool leat_is_temporary_name(const char *name)
{
	return leat_str_begins(name, LEAT_TEMPORARY_PREFIX);
}

/* Below the workflow's directory paths are canonical. A symlink has taken a directory's place just
 * now, perhaps that of a user who is not to lead the daemon elsewhere. */
static int open_dir(int dirfd, const char *dir, int flags)
{
	struct open_how how = {.flags = (uint64_t)flags | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	long fd = -1;

	errno = ENOSYS;
	if (dirfd != AT_FDCWD)
		fd = syscall(SYS_openat2, dirfd, dir, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(dirfd, dir, flags | O_DIRECTORY | O_CLOEXEC);
	return (int)fd;
}

/* Opens the directory that holds `path`; *name is the part behind it. */
static int open_parent(int dirfd, const char *path, int flags, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd;

	*name = slash ? slash + 1 : path;
	if (slash && (size_t)(slash - path) >= sizeof(dir))
		return -ENAMETOOLONG;
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	fd = open_dir(dirfd, dir, flags);
	return fd < 0 ? -errno : fd;
}

/* ".leat-<name>.XXXXXX", shortened to what a name may be. */
static void make_name(char out[NAME_MAX + 1], const char *name)
{
	uint8_t random[6] = {0};
	int keep = NAME_MAX - (int)strlen(LEAT_TEMPORARY_PREFIX) - TAIL;
	char tail[TAIL];

	if (getrandom(random, sizeof(random), GRND_NONBLOCK) < 0)
		random[0] = (uint8_t)getpid();
	for (int i = 0; i < 6; i++)
		tail[i] = letters[random[i] % 32];
	tail[6] = 0;
	snprintf(out, NAME_MAX + 1, LEAT_TEMPORARY_PREFIX "%.*s.%s", keep, name, tail);
}

/* A temporary is locked as long as it is somebody's. It may have been taken for stale before it
 * was locked: then it is another's to remove, or has no name any more. */
static bool lock_ours(int fd)
{
	struct stat st;

	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink;
}

static int create_temporary(int dir, const char *name, char temporary[NAME_MAX + 1])
{
	for (int i = 0; i < ATTEMPTS; i++) {
		int fd;

		make_name(temporary, name);
		fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0 && lock_ours(fd))
			return fd;
		if (fd < 0 && errno != EEXIST)
			return -errno;
		leat_close(&fd);
	}
	return -EEXIST;
}

static int fill(int in, int out)
{
	struct stat st;
	int rc;

	if (fstat(in, &st) < 0)
		return -errno;
	LEAT_FAULT("persist.made");
	rc = leat_copy_data(in, out, (uint64_t)st.st_size);
	LEAT_FAULT("persist.copied");
	if (!rc)
		rc = leat_copy_meta(out, &st);
	if (!rc && fsync(out) < 0)
		rc = -errno;
	LEAT_FAULT("persist.synced");
	return rc;
}

int leat_persist_make_file(struct leat_persist *p, int disk_fd, const char *path, int in)
{
	const char *name;
	int rc;

	*p = (struct leat_persist){.dir = open_parent(disk_fd, path, O_PATH, &name), .fd = -1};
	if (p->dir < 0)
		return p->dir;
	p->fd = create_temporary(p->dir, name, p->temporary);
	if (p->fd < 0) {
		rc = p->fd;
		leat_close(&p->dir);
		return rc;
	}
	rc = fill(in, p->fd);
	if (rc)
		leat_persist_drop(p);
	return rc;
}

static void release(struct leat_persist *p)
{
	leat_close(&p->fd); /* and the lock; what it could say, fsync has said */
	leat_close(&p->dir);
}

void leat_persist_drop(struct leat_persist *p)
{
	unlinkat(p->dir, p->temporary, 0);
	release(p);
}

int leat_persist_take(struct leat_persist *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	int rc = 0;

	if (renameat(p->dir, p->temporary, p->dir, slash ? slash + 1 : path) < 0)
		rc = -errno;
	LEAT_FAULT("persist.renamed");
	if (rc)
		leat_persist_drop(p);
	else
		release(p);
	return rc;
}

int leat_persist_file(int disk_fd, const char *path, int in)
{
	struct leat_persist p;
	int rc = leat_persist_make_file(&p, disk_fd, path, in);

	return rc ? rc : leat_persist_take(&p, path);
}

/* ---- what a killed daemon left ---- */

/* A file is removed while it is locked: who made it, and has not locked it yet, then finds that it
 * has no name any more. */
static void remove_stale(int dir, const char *name)
{
	time_t long_ago = time(NULL) - STALE_S;
	struct stat st;
	bool stale = false;
	int fd = -1;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid())
		return;
	if (S_ISLNK(st.st_mode)) /* it cannot be locked */
		stale = st.st_ctim.tv_sec < long_ago;
	if (S_ISREG(st.st_mode)) {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		stale = fd >= 0 && lock_ours(fd);
	}
	if (stale)
		unlinkat(dir, name, 0);
	leat_close(&fd);
}

/* As make_name makes them. */
static bool is_temporary(const char *name)
{
	size_t length = strlen(name);

	return leat_is_temporary_name(name) && length > TAIL + strlen(LEAT_TEMPORARY_PREFIX) &&
	       name[length - TAIL] == '.' && strspn(name + length - TAIL + 1, letters) == TAIL - 1;
}

void leat_persist_clean_stale(int disk_fd, const char *path)
{
	const struct dirent *e;
	const char *name;
	int fd = open_parent(disk_fd, path, O_RDONLY, &name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		leat_close(&fd);
		return;
	}
	while ((e = readdir(dir)))
		if (is_temporary(e->d_name))
			remove_stale(fd, e->d_name);
	closedir(dir);
}

int leat_persist_make_symlink(struct leat_persist *p, int disk_fd, const char *path,
			      const char *target, uid_t uid, gid_t gid)
{
	const char *name;
	int rc = -EEXIST;

	*p = (struct leat_persist){.dir = open_parent(disk_fd, path, O_PATH, &name), .fd = -1};
	if (p->dir < 0)
		return p->dir;
	for (int i = 0; rc == -EEXIST && i < ATTEMPTS; i++) {
		make_name(p->temporary, name);
		rc = symlinkat(target, p->dir, p->temporary) < 0 ? -errno : 0;
	}
	if (rc) {
		leat_close(&p->dir);
		return rc;
	}
	/* Only root can give it away. */
	if (fchownat(p->dir, p->temporary, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 && errno != EPERM &&
	    errno != EINVAL)
		rc = -errno;
	if (rc)
		leat_persist_drop(p);
	return rc;
}

int leat_persist_sync_parent(int disk_fd, const char *path)
{
	const char *name;
	int rc = 0;
	int dir = open_parent(disk_fd, path, O_RDONLY, &name);

	if (dir < 0)
		return dir;
	if (fsync(dir) < 0 && errno != EINVAL && errno != ENOTSUP)
		rc = -errno;
	close(dir);
	return rc;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static int set_meta(int dir, const char *name, const struct stat *st)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};
	struct stat now;

	if (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) &&
	    fchownat(dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno != EPERM && errno != EINVAL)
		return -errno;
	if (!S_ISLNK(now.st_mode) && (now.st_mode & 07777) != (st->st_mode & 07777) &&
	    fchmodat(dir, name, st->st_mode & 07777, 0) < 0)
		return -errno;
	if (!same_time(now.st_mtim, st->st_mtim) &&
	    utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

int leat_persist_meta(int disk_fd, const char *path, const struct stat *st)
{
	const char *name;
	int rc, dir = open_parent(disk_fd, path, O_PATH, &name);

	if (dir < 0)
		return dir;
	rc = set_meta(dir, name, st);
	close(dir);
	return rc;
}
