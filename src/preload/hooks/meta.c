/* Calls by path that look at or change what is known of a file, not its bytes. On
 * a path inside they become the call with a directory descriptor, or with the
 * resolved as one path. */
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/text.h"
#include "preload/fd/migrate.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/hooks/meta_rights.h"
#include "preload/path/halves.h"
#include "preload/path/names.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "preload/path/resolve_cache.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <utime.h>

static int enter(struct leat_resolved *resolved, const struct leat_syscall *c, uint32_t op,
		 int dirfd, const char *path, unsigned flags)
{
	struct leat_target target = {
		.op = op, .dirfd = dirfd, .path = path, .flags = flags & AT_SYMLINK_NOFOLLOW};

	leat_rights_of(c, &target);
	return leat_resolve(resolved, &target);
}

/* --- looking --- */

static long do_access(int dirfd, const char *path, int mode, unsigned flags, bool follow)
{
	struct leat_target target = {.op = LEAT_OP_ACCESS,
				     .dirfd = dirfd,
				     .path = path,
				     .flags = flags & AT_SYMLINK_NOFOLLOW,
				     .mode = (uint32_t)mode,
				     .follow = follow};
	struct leat_resolved resolved;
	long rc = leat_resolve(&resolved, &target);

	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	if (rc)
		return rc;
	for (unsigned i = 0; i < LEAT_MAX_MOVES; i++) {
		if (flags)
			rc = raw(SYS_faccessat2, resolved.dirfd, resolved.path, mode, flags);
		else
			rc = raw(SYS_faccessat, resolved.dirfd, resolved.path, mode);
		if (!leat_resolved_has_moved(&resolved, rc))
			break;
		rc = leat_resolve_again(&resolved, &target);
		if (rc)
			return rc;
		rc = -ENOENT;
	}
	leat_resolved_leave(&resolved);
	return rc;
}

/* What the kernel did not find outside may be a symlink into the store. */
static long access_through(int dirfd, const char *path, int mode, unsigned flags)
{
	long rc = LEAT_PASS;

	if (!(flags & AT_SYMLINK_NOFOLLOW) && leat_path_dangles(dirfd, path))
		rc = do_access(dirfd, path, mode, flags, true);
	return rc == LEAT_PASS ? -ENOENT : rc;
}

static unsigned access_flags(const struct leat_syscall *c)
{
	return c->nr == SYS_faccessat ? 0 : (unsigned)c->a[3];
}

/* The next two are called so often that it is worth asking first. */
long leat_hook_access(struct leat_syscall *c)
{
	if (!leat_is_enforced() && !leat_path_maybe(AT_FDCWD, (const char *)c->a[0]))
		return LEAT_TRY_ERROR;
	return do_access(AT_FDCWD, (const char *)c->a[0], (int)c->a[1], 0, false);
}

long leat_hook_access_end(struct leat_syscall *c, long rc)
{
	if (rc != -ENOENT)
		return rc;
	return access_through(AT_FDCWD, (const char *)c->a[0], (int)c->a[1], 0);
}

/* faccessat and faccessat2; the former has no flags */
long leat_hook_faccessat(struct leat_syscall *c)
{
	if (!leat_is_enforced() && !leat_path_maybe((int)c->a[0], (const char *)c->a[1]))
		return LEAT_TRY_ERROR;
	return do_access((int)c->a[0], (const char *)c->a[1], (int)c->a[2], access_flags(c), false);
}

long leat_hook_faccessat_end(struct leat_syscall *c, long rc)
{
	if (rc != -ENOENT)
		return rc;
	return access_through((int)c->a[0], (const char *)c->a[1], (int)c->a[2], access_flags(c));
}

/* What the links in /proc say of our files is translated, too. */
static long read_outside(const struct leat_syscall *c, const char *path, char *out, long size)
{
	char name[PATH_MAX];
	long n;

	if (!path || strncmp(path, "/proc/", 6) != 0)
		return LEAT_PASS;
	n = leat_as_is(c);
	if (n <= 0 || n >= PATH_MAX)
		return n;
	memcpy(name, out, (size_t)n);
	name[n] = 0;
	n = leat_path_translate(name, sizeof(name));
	if (n < 0)
		return -ENAMETOOLONG;
	if (n > size)
		n = size;
	memcpy(out, name, (size_t)n);
	return n;
}

static long do_readlink(const struct leat_syscall *c, int dirfd, const char *path, char *out,
			long size)
{
	struct leat_resolved resolved;
	long rc = enter(&resolved, c, LEAT_OP_ACCESS, dirfd, path, AT_SYMLINK_NOFOLLOW);

	if (rc == LEAT_OUTSIDE)
		return read_outside(c, path, out, size);
	if (rc)
		return rc;
	rc = raw(SYS_readlinkat, resolved.dirfd, resolved.path, out, size);
	leat_resolved_leave(&resolved);
	return rc;
}

long leat_hook_readlink(const struct leat_syscall *c)
{
	return do_readlink(c, AT_FDCWD, (const char *)c->a[0], (char *)c->a[1], c->a[2]);
}

long leat_hook_readlinkat(const struct leat_syscall *c)
{
	return do_readlink(c, (int)c->a[0], (const char *)c->a[1], (char *)c->a[2], c->a[3]);
}

/* --- mode, owner, times --- */

static long change_as_is(const struct leat_syscall *c)
{
	long rc;

	leat_resolve_cache_changing();
	rc = leat_as_is(c);
	leat_resolve_cache_changed();
	return rc;
}

static unsigned what_changes(long nr)
{
	switch (nr) {
	case SYS_utimensat:
		return LEAT_ALIKE_TIMES;
	case SYS_setxattr:
	case SYS_removexattr:
	case SYS_fsetxattr:
	case SYS_fremovexattr:
		return LEAT_ALIKE_ATTRIBUTES;
	default:
		return 0;
	}
}

/* By descriptor. */
long leat_hook_change_by_fd(const struct leat_syscall *c)
{
	int fd = (int)c->a[0];
	struct leat_preload_half half;
	long rc = leat_rights_by_fd(c, fd);

	if (rc)
		return rc;
	leat_half_note_fd(&half, fd);
	return leat_half_changed_fd(&half, fd, change_as_is(c), what_changes(c->nr));
}

/* By /proc/self/fd/N, as libc does where the kernel wants no symlink to be followed. */
static long change_by_link(const struct leat_syscall *c, const char *path)
{
	static const char links[] = "/proc/self/fd/";
	struct leat_preload_half half;
	int fd = 0;
	long rc;

	if (strncmp(path, links, sizeof(links) - 1) != 0)
		return change_as_is(c);
	for (path += sizeof(links) - 1; *path >= '0' && *path <= '9' && fd < LEAT_MAX_FD; path++)
		fd = fd * 10 + (*path - '0');
	if (*path)
		return change_as_is(c);
	rc = leat_rights_by_fd(c, fd);
	if (rc)
		return rc;
	leat_half_note_fd(&half, fd);
	return leat_half_changed_fd(&half, fd, change_as_is(c), what_changes(c->nr));
}

/* The path is not inside. But the call may mean an open file of ours: the descriptor itself, or its
 * link in /proc. */
static long change_outside(const struct leat_syscall *c, int dirfd, const char *path)
{
	if (path && *path)
		return strncmp(path, "/proc/", 6) == 0 ? change_by_link(c, path) : LEAT_PASS;
	return leat_fd_may_be_ours(dirfd) ? leat_hook_change_by_fd(c) : LEAT_PASS;
}

static long do_chmod(const struct leat_syscall *c, int dirfd, const char *path, long mode,
		     unsigned flags)
{
	struct leat_preload_half half;
	struct leat_resolved resolved;
	long rc = enter(&resolved, c, LEAT_OP_META, dirfd, path, flags);

	if (rc == LEAT_OUTSIDE)
		return change_outside(c, dirfd, path);
	if (rc)
		return rc;
	leat_half_note(&half, &resolved);
	if (flags)
		rc = raw(c->nr, resolved.dirfd, resolved.path, mode, flags);
	else
		rc = raw(SYS_fchmodat, resolved.dirfd, resolved.path, mode);
	return leat_resolved_changed(&resolved, leat_half_changed(&half, &resolved, rc, 0));
}

long leat_hook_chmod(const struct leat_syscall *c)
{
	return do_chmod(c, AT_FDCWD, (const char *)c->a[0], c->a[1], 0);
}

/* fchmodat and fchmodat2; the former has no flags */
long leat_hook_fchmodat(const struct leat_syscall *c)
{
	unsigned flags = c->nr == SYS_fchmodat ? 0 : (unsigned)c->a[3];

	return do_chmod(c, (int)c->a[0], (const char *)c->a[1], c->a[2], flags);
}

/* In truth a call on an open file: the kernel's, where the file is now. */
static long by_fd(const struct leat_syscall *c, int fd, const char *path)
{
	long rc = leat_migrate_first(fd);

	return rc ? rc : change_outside(c, fd, path);
}

static long do_chown(const struct leat_syscall *c, int dirfd, const char *path, long uid, long gid,
		     unsigned flags)
{
	struct leat_preload_half half;
	struct leat_resolved resolved;
	long rc;

	if ((flags & AT_EMPTY_PATH) && (!path || !*path))
		return by_fd(c, dirfd, path);
	rc = enter(&resolved, c, LEAT_OP_META, dirfd, path, flags);
	if (rc == LEAT_OUTSIDE)
		return change_outside(c, dirfd, path);
	if (rc)
		return rc;
	leat_half_note(&half, &resolved);
	rc = raw(SYS_fchownat, resolved.dirfd, resolved.path, uid, gid, flags);
	return leat_resolved_changed(&resolved, leat_half_changed(&half, &resolved, rc, 0));
}

long leat_hook_chown(const struct leat_syscall *c)
{
	return do_chown(c, AT_FDCWD, (const char *)c->a[0], c->a[1], c->a[2], 0);
}

long leat_hook_lchown(const struct leat_syscall *c)
{
	return do_chown(c, AT_FDCWD, (const char *)c->a[0], c->a[1], c->a[2], AT_SYMLINK_NOFOLLOW);
}

long leat_hook_fchownat(const struct leat_syscall *c)
{
	return do_chown(c, (int)c->a[0], (const char *)c->a[1], c->a[2], c->a[3],
			(unsigned)c->a[4]);
}

static long times_by_fd(const struct leat_syscall *c, int fd, const char *path,
			const struct timespec *times)
{
	long rc = by_fd(c, fd, path);
	const struct leat_fd *r = leat_fd_get(fd);

	if (!rc && r)
		leat_shm_note_times(leat_client_file(r->slot), times);
	return rc;
}

static long do_utimens(const struct leat_syscall *c, int dirfd, const char *path,
		       const struct timespec *times, unsigned flags)
{
	struct leat_preload_half half;
	struct leat_resolved resolved;
	long rc;

	if (!path || !*path) /* futimens */
		return times_by_fd(c, dirfd, path, times);
	rc = enter(&resolved, c, LEAT_OP_META, dirfd, path, flags);
	if (rc == LEAT_OUTSIDE)
		return change_outside(c, dirfd, path);
	if (rc)
		return rc;
	leat_half_note(&half, &resolved);
	rc = raw(SYS_utimensat, resolved.dirfd, resolved.path, times, flags);
	if (!rc)
		leat_shm_note_times(leat_client_file(resolved.slot), times);
	rc = leat_half_changed(&half, &resolved, rc, LEAT_ALIKE_TIMES);
	return leat_resolved_changed(&resolved, rc);
}

long leat_hook_utimensat(const struct leat_syscall *c)
{
	const struct leat_fd *r = c->a[1] ? NULL : leat_fd_get((int)c->a[0]);

	/* The close would change the times again. */
	if (r && leat_fd_has(r, LEAT_FD_WRITE))
		leat_window_truncate(r, (int)c->a[0], true);
	return do_utimens(c, (int)c->a[0], (const char *)c->a[1], (const struct timespec *)c->a[2],
			  (unsigned)c->a[3]);
}

#ifdef SYS_utime
static struct timespec of_timeval(const struct timeval *t)
{
	return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_usec * 1000};
}

/* utimes and futimesat */
long leat_hook_futimesat(const struct leat_syscall *c)
{
	const bool at = c->nr == SYS_futimesat;
	const struct timeval *t = (const struct timeval *)c->a[at ? 2 : 1];
	int dirfd = at ? (int)c->a[0] : AT_FDCWD;
	const char *path = (const char *)c->a[at ? 1 : 0];
	struct timespec times[2];

	if (t) {
		times[0] = of_timeval(&t[0]);
		times[1] = of_timeval(&t[1]);
	}
	return do_utimens(c, dirfd, path, t ? times : NULL, 0);
}

long leat_hook_utime(const struct leat_syscall *c)
{
	const struct utimbuf *t = (const struct utimbuf *)c->a[1];
	struct timespec times[2] = {0};

	if (t) {
		times[0].tv_sec = t->actime;
		times[1].tv_sec = t->modtime;
	}
	return do_utimens(c, AT_FDCWD, (const char *)c->a[0], t ? times : NULL, 0);
}
#endif

/* --- calls that take a path only: (path, ...) --- */

static long by_path(const struct leat_syscall *c, uint32_t op, unsigned flags)
{
	struct leat_syscall here = *c;
	struct leat_target target = {
		.op = op, .dirfd = AT_FDCWD, .path = (const char *)c->a[0], .flags = flags};
	struct leat_preload_half half;
	struct leat_resolved resolved;
	long rc;

	leat_rights_of(c, &target);
	rc = leat_resolve(&resolved, &target);
	if (rc == LEAT_OUTSIDE && op == LEAT_OP_META)
		return change_outside(c, AT_FDCWD, (const char *)c->a[0]);
	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	if (rc)
		return rc;
	for (unsigned i = 0;; i++) {
		if (op == LEAT_OP_META)
			leat_half_note(&half, &resolved);
		here.a[0] = (long)leat_resolved_path(&resolved);
		rc = leat_as_is(&here);
		if (op == LEAT_OP_META)
			return leat_resolved_changed(
				&resolved,
				leat_half_changed(&half, &resolved, rc, LEAT_ALIKE_ATTRIBUTES));
		leat_resolved_leave(&resolved);
		if (!leat_resolved_has_moved(&resolved, rc) || i == LEAT_MAX_MOVES)
			return rc;
		rc = leat_resolve(&resolved, &target);
		if (rc)
			return rc == LEAT_OUTSIDE ? -ENOENT : rc;
	}
}

long leat_hook_xattr(const struct leat_syscall *c)
{
	return by_path(c, LEAT_OP_ACCESS, 0);
}

long leat_hook_lxattr(const struct leat_syscall *c)
{
	return by_path(c, LEAT_OP_ACCESS, AT_SYMLINK_NOFOLLOW);
}

long leat_hook_xattr_change(const struct leat_syscall *c)
{
	return by_path(c, LEAT_OP_META, 0);
}

long leat_hook_lxattr_change(const struct leat_syscall *c)
{
	return by_path(c, LEAT_OP_META, AT_SYMLINK_NOFOLLOW);
}

/* --- others --- */

long leat_hook_file_handle(const struct leat_syscall *c)
{
	struct leat_syscall here = *c;
	struct leat_resolved resolved;
	unsigned flags = c->a[4] & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
	long rc = enter(&resolved, c, LEAT_OP_ACCESS, (int)c->a[0], (const char *)c->a[1], flags);

	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	if (rc)
		return rc;
	here.a[0] = resolved.dirfd;
	here.a[1] = (long)resolved.path;
	rc = leat_as_is(&here);
	leat_resolved_leave(&resolved);
	return rc;
}

/* What it opens is opened again by its name, as anything else. */
long leat_hook_open_handle(const struct leat_syscall *c)
{
	char name[PATH_MAX];
	struct leat_syscall openat = {.nr = SYS_openat, .a = {AT_FDCWD, (long)name, c->a[2]}};
	long fd = leat_as_is(c);
	bool ours;

	if (fd < 0 || leat_fd_name((int)fd, name, sizeof(name)) < 0)
		return fd;
	ours = leat_path_of_name(name) != NULL;
	if (!ours)
		return fd;
	raw(SYS_close, fd);
	if (leat_path_translate(name, sizeof(name)) < 0)
		return -ENAMETOOLONG;
	return leat_both_halves(&openat, leat_hook_openat, leat_hook_openat_end);
}

long leat_hook_inotify_add_watch(const struct leat_syscall *c)
{
	struct leat_syscall here = *c;
	struct leat_resolved resolved;
	long rc = enter(&resolved, c, LEAT_OP_ACCESS, AT_FDCWD, (const char *)c->a[1], 0);

	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	if (rc)
		return rc;
	here.a[1] = (long)leat_resolved_path(&resolved);
	rc = leat_as_is(&here);
	leat_resolved_leave(&resolved);
	return rc;
}
