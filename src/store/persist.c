#include "store/persist.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/timespec.h"
#include "store/copy.h"
#include "store/times.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 16
/* A symlink is there for a moment only before it is renamed. */
#define STALE_S 60

static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

enum { TAIL = 7 }; /* of a temporary's name: a dot and six letters */

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
 * was locked: then it is another's to remove, or has no name any more. 0, -EAGAIN if that is so, or
 * -errno. */
static int lock_ours(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_nlink ? 0 : -EAGAIN;
}

static int create_temporary(int dir, const char *name, char temporary[NAME_MAX + 1])
{
	struct leat_quiet quiet;
	int rc = 0;

	/* Whoever takes one for stale is done with it: that is no reason to give up. */
	for (int taken = 0; taken < ATTEMPTS; taken += rc == -EEXIST) {
		int fd;

		make_name(temporary, name);
		leat_quiet_begin(&quiet, NULL, dir);
		fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		leat_quiet_end(&quiet);
		rc = fd < 0 ? -errno : lock_ours(fd);
		if (!rc)
			return fd;
		if (fd >= 0 && rc != -EAGAIN)
			unlinkat(dir, temporary, 0);
		leat_close(&fd);
		if (rc != -EEXIST && rc != -EAGAIN)
			return rc;
	}
	return rc;
}

/* It is nobody's to take for stale until it has a name. -EOPNOTSUPP: there are none here. */
static int create_nameless(int dir)
{
	int fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	int rc = fd < 0 ? -EOPNOTSUPP : flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;

	if (rc)
		leat_close(&fd);
	return rc ? rc : fd;
}

static int create(int dir, const char *name, enum leat_persist_by by, char temporary[NAME_MAX + 1])
{
	int fd = by == LEAT_PERSIST_NAMELESS ? create_nameless(dir) : -EOPNOTSUPP;

	temporary[0] = 0;
	return fd == -EOPNOTSUPP || fd == -EAGAIN ? create_temporary(dir, name, temporary) : fd;
}

static int fill(int in, int out, enum leat_list list, const char *name)
{
	struct stat st;
	int rc;

	if (fstat(in, &st) < 0)
		return -errno;
	LEAT_FAULT("persist.made");
	rc = leat_copy_data(in, out, (uint64_t)st.st_size, LEAT_COPY_EVENLY);
	LEAT_FAULT("persist.copied");
	if (!rc)
		rc = leat_copy_meta(in, out, &st, list, name);
	if (!rc && fsync(out) < 0)
		rc = -errno;
	LEAT_FAULT("persist.synced");
	return rc;
}

int leat_persist_make_file(struct leat_persist *p, const struct leat_beneath *at, int in,
			   enum leat_list list, enum leat_persist_by by, const char *name)
{
	int rc;

	*p = (struct leat_persist){.at = *at, .aside = -1};
	p->fd = create(at->dir, at->name, by, p->temporary);
	if (p->fd < 0) {
		leat_beneath_release(&p->at);
		return p->fd;
	}
	rc = fill(in, p->fd, list, name);
	if (rc)
		leat_persist_drop(p);
	return rc;
}

static void release(struct leat_persist *p)
{
	leat_close(&p->fd); /* and the lock; what it could say, fsync has said */
	leat_beneath_release(&p->at);
}

void leat_persist_drop(struct leat_persist *p)
{
	struct leat_quiet quiet;

	leat_quiet_begin(&quiet, NULL, *p->temporary ? p->at.dir : -1);
	if (*p->temporary)
		unlinkat(p->at.dir, p->temporary, 0);
	leat_quiet_end(&quiet);
	release(p);
}

/* What has no name is given one. 0 or -errno. */
static int link_as(const struct leat_persist *p, int dir, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* The same under a name that nobody has. */
static int link_as_temporary(const struct leat_persist *p, int dir, char temporary[NAME_MAX + 1])
{
	int rc = -EEXIST;

	for (int i = 0; rc == -EEXIST && i < ATTEMPTS; i++) {
		make_name(temporary, p->at.name);
		rc = link_as(p, dir, temporary);
	}
	if (rc)
		temporary[0] = 0;
	return rc;
}

/* What has no name takes the place of something else, by way of where it is not seen. */
static int replace_from_aside(const struct leat_persist *p)
{
	char temporary[NAME_MAX + 1];
	int rc = p->aside < 0 ? -EXDEV : link_as_temporary(p, p->aside, temporary);

	if (!rc && renameat(p->aside, temporary, p->at.dir, p->at.name) < 0) {
		rc = -errno;
		unlinkat(p->aside, temporary, 0);
	}
	return rc;
}

/* Beside it the name is seen, if only for a moment. */
static int replace_from_beside(struct leat_persist *p)
{
	int rc = *p->temporary ? 0 : link_as_temporary(p, p->at.dir, p->temporary);

	if (!rc && renameat(p->at.dir, p->temporary, p->at.dir, p->at.name) < 0)
		rc = -errno;
	return rc;
}

static int give_name(struct leat_persist *p)
{
	int rc = *p->temporary ? -EXDEV : link_as(p, p->at.dir, p->at.name);

	if (rc == -EEXIST)
		rc = replace_from_aside(p);
	return rc == -EXDEV ? replace_from_beside(p) : rc;
}

int leat_persist_take(struct leat_persist *p)
{
	struct leat_quiet quiet;
	int rc;

	leat_quiet_begin(&quiet, NULL, p->is_seen ? -1 : p->at.dir);
	rc = give_name(p);
	leat_quiet_end(&quiet);
	LEAT_FAULT("persist.renamed");
	if (rc)
		leat_persist_drop(p);
	else
		release(p);
	return rc;
}

int leat_persist_file(int top, const char *path, int in)
{
	struct leat_beneath at;
	struct leat_persist p = {0};
	int rc = leat_beneath_find(top, path, &at);

	if (!rc)
		rc = leat_persist_make_file(&p, &at, in, LEAT_LIST_GOES, LEAT_PERSIST_NAMED, path);
	p.is_seen = true;
	return rc ? rc : leat_persist_take(&p);
}

/* ---- what a killed daemon left ---- */

/* A file is removed while it is locked: who made it, and has not locked it yet, then finds that it
 * has no name any more. */
static void remove_stale(int dir, const char *name)
{
	time_t long_ago = time(NULL) - STALE_S;
	struct leat_quiet quiet;
	struct stat st;
	bool stale = false;
	int fd = -1;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid())
		return;
	if (S_ISLNK(st.st_mode)) /* it cannot be locked */
		stale = st.st_ctim.tv_sec < long_ago;
	if (S_ISREG(st.st_mode)) {
		fd = leat_beneath_open_regular(dir, name, O_RDONLY);
		stale = fd >= 0 && lock_ours(fd) == 0;
	}
	leat_quiet_begin(&quiet, NULL, stale ? dir : -1);
	if (stale)
		unlinkat(dir, name, 0);
	leat_quiet_end(&quiet);
	leat_close(&fd);
}

/* As make_name makes them. */
static bool is_temporary(const char *name)
{
	size_t length = strlen(name);

	return leat_is_temporary_name(name) && length > TAIL + strlen(LEAT_TEMPORARY_PREFIX) &&
	       name[length - TAIL] == '.' && strspn(name + length - TAIL + 1, letters) == TAIL - 1;
}

void leat_persist_clean_stale(int parent)
{
	const struct dirent *e;
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

/* Only root can. Whoever may rename there may have put something else in its place: what is given
 * away is a symlink, and no more. */
static bool give_away(const struct leat_persist *p, uid_t uid, gid_t gid)
{
	struct stat st;
	int fd = openat(p->at.dir, p->temporary, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool good = fd >= 0 && fstat(fd, &st) == 0;

	if (good && S_ISLNK(st.st_mode) && st.st_uid == geteuid())
		good = fchownat(fd, "", uid, gid, AT_EMPTY_PATH) == 0 || errno == EPERM ||
		       errno == EINVAL;
	leat_close(&fd);
	return good;
}

int leat_persist_make_symlink(struct leat_persist *p, const struct leat_beneath *at,
			      const char *target, uid_t uid, gid_t gid)
{
	struct leat_quiet quiet;
	int rc = -EEXIST;

	*p = (struct leat_persist){.at = *at, .fd = -1, .aside = -1};
	for (int i = 0; rc == -EEXIST && i < ATTEMPTS; i++) {
		make_name(p->temporary, at->name);
		leat_quiet_begin(&quiet, NULL, at->dir);
		rc = symlinkat(target, at->dir, p->temporary) < 0 ? -errno : 0;
		leat_quiet_end(&quiet);
	}
	if (rc) {
		leat_beneath_release(&p->at);
		return rc;
	}
	if (give_away(p, uid, gid))
		return 0;
	rc = -errno;
	leat_persist_drop(p);
	return rc;
}

int leat_persist_make_link(struct leat_persist *p, const struct leat_beneath *at,
			   const struct leat_beneath *of)
{
	struct leat_quiet quiet;
	int rc = -EEXIST;

	*p = (struct leat_persist){.at = *at, .fd = -1, .aside = -1};
	for (int i = 0; rc == -EEXIST && i < ATTEMPTS; i++) {
		make_name(p->temporary, at->name);
		leat_quiet_begin(&quiet, NULL, at->dir);
		rc = leat_beneath_link(of->dir, of->name, at->dir, p->temporary);
		leat_quiet_end(&quiet);
	}
	if (rc)
		leat_beneath_release(&p->at);
	return rc;
}

/* Open directory `at` and bring it to disk by `sync`. 0 or -errno. */
static int sync_dir(int at, int (*sync)(int fd))
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || (sync(fd) < 0 && errno != EINVAL && errno != ENOTSUP) ? -errno : 0;

	leat_close(&fd);
	return rc;
}

/* The directory that was written to has been removed, or something else has its name. */
static bool is_gone(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP;
}

int leat_persist_sync_parent(int disk_fd, const char *path)
{
	struct leat_beneath at;
	int rc = leat_beneath_find(disk_fd, path, &at);

	if (rc)
		return is_gone(rc) ? 0 : rc;
	rc = sync_dir(at.dir, fsync);
	leat_beneath_release(&at);
	/* Its owner may write it, but not read it. */
	return rc == -EACCES ? sync_dir(disk_fd, syncfs) : rc;
}

/* By a descriptor of what was looked at: the name may have become another's. */
static int set_owner(int fd, const struct stat *now, const struct stat *st)
{
	int rc = 0;

	if (now->st_uid != st->st_uid || now->st_gid != st->st_gid)
		rc = leat_beneath_chown(fd, st->st_uid, st->st_gid);
	return rc == -EPERM || rc == -EINVAL ? 0 : rc;
}

static int set_meta(int fd, const struct stat *st, const struct leat_inode *only, int like,
		    enum leat_list list, const char *name)
{
	mode_t mode = st->st_mode & 07777;
	struct stat now;
	int rc;

	if (fstat(fd, &now) < 0)
		return -errno;
	if (only && !leat_inode_is(only, &now))
		return -ESTALE;
	rc = set_owner(fd, &now, st);
	if (!rc && like >= 0 && S_ISREG(now.st_mode))
		rc = leat_copy_xattrs(like, fd, list, name, &mode);
	/* Both change it. */
	if (!rc && fstat(fd, &now) < 0)
		rc = -errno;
	if (!rc && like >= 0 && !S_ISLNK(now.st_mode) && (now.st_mode & 07777) != mode)
		rc = leat_beneath_chmod(fd, mode);
	if (!rc && !leat_timespec_is_same(now.st_mtim, st->st_mtim))
		rc = leat_beneath_set_times(fd, (struct timespec[]){st->st_atim, st->st_mtim});
	return rc;
}

int leat_persist_meta(int disk_fd, const char *path, const struct stat *st,
		      const struct leat_inode *only, int like, enum leat_list list,
		      const char *name)
{
	int rc, fd = leat_beneath_open(disk_fd, path, O_PATH, 0);

	if (fd < 0)
		return fd;
	rc = set_meta(fd, st, only, like, list, name);
	close(fd);
	return rc;
}
