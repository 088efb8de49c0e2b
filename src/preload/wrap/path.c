/* libleat-wrap.so: the functions of libc that take paths, wrapped; see wrap.c. Calls from before
 * openat are made through their younger forms, which every architecture has. */
#include "preload/wrap/wrap.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

/* --- open --- */

static mode_t mode_of(int flags, va_list rest)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

LEAT_EXPORT int open(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = mode_of(flags, rest);
	va_end(rest);
	return (int)leat_wrap_result(LEAT_PATH_CALL(SYS_openat, AT_FDCWD, path, flags, mode));
}
LEAT_ALIAS(open, open64);

LEAT_EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = mode_of(flags, rest);
	va_end(rest);
	return (int)leat_wrap_result(LEAT_PATH_CALL(SYS_openat, dirfd, path, flags, mode));
}
LEAT_ALIAS(openat, openat64);

LEAT_WRAP_PATH(int, creat, (const char *path, mode_t mode), SYS_openat, AT_FDCWD, path,
	       O_CREAT | O_WRONLY | O_TRUNC, mode)
LEAT_ALIAS(creat, creat64);

/* fortified names, for calls without a mode */
int __open_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
LEAT_EXPORT extern __typeof__(__open_2) __open64_2;
LEAT_EXPORT extern __typeof__(__openat_2) __openat64_2;

LEAT_WRAP_PATH(int, __open_2, (const char *path, int flags), SYS_openat, AT_FDCWD, path, flags)
LEAT_ALIAS(__open_2, __open64_2);
LEAT_WRAP_PATH(int, __openat_2, (int dirfd, const char *path, int flags), SYS_openat, dirfd, path,
	       flags)
LEAT_ALIAS(__openat_2, __openat64_2);

/* --- stat --- */

LEAT_WRAP_PATH(int, stat, (const char *path, struct stat *st), SYS_newfstatat, AT_FDCWD, path, st,
	       0)
LEAT_WRAP_PATH(int, lstat, (const char *path, struct stat *st), SYS_newfstatat, AT_FDCWD, path, st,
	       AT_SYMLINK_NOFOLLOW)
LEAT_WRAP_PATH(int, fstatat, (int dirfd, const char *path, struct stat *st, int flags),
	       SYS_newfstatat, dirfd, path, st, flags)
LEAT_WRAP_FD(int, fstat, (int fd, struct stat *st), fd, SYS_fstat, fd, st)
LEAT_WRAP_PATH(int, statx,
	       (int dirfd, const char *path, int flags, unsigned mask, struct statx *st), SYS_statx,
	       dirfd, path, flags, mask, st)
LEAT_WRAP_PATH(int, statfs, (const char *path, struct statfs *fs), SYS_statfs, path, fs)
LEAT_WRAP_PATH(int, statfs64, (const char *path, struct statfs64 *fs), SYS_statfs, path, fs)
LEAT_WRAP_PATH(int, access, (const char *path, int mode), SYS_faccessat, AT_FDCWD, path, mode)

/* The kernel's older call takes no flags. */
LEAT_EXPORT int faccessat(int dirfd, const char *path, int mode, int flags)
{
	long result = flags ? LEAT_PATH_CALL(SYS_faccessat2, dirfd, path, mode, flags)
			    : LEAT_PATH_CALL(SYS_faccessat, dirfd, path, mode);

	return (int)leat_wrap_result(result);
}

/* struct stat64 is struct stat where long has 64 bits */
LEAT_WRAP_PATH(int, stat64, (const char *path, struct stat64 *st), SYS_newfstatat, AT_FDCWD, path,
	       st, 0)
LEAT_WRAP_PATH(int, lstat64, (const char *path, struct stat64 *st), SYS_newfstatat, AT_FDCWD, path,
	       st, AT_SYMLINK_NOFOLLOW)
LEAT_WRAP_PATH(int, fstatat64, (int dirfd, const char *path, struct stat64 *st, int flags),
	       SYS_newfstatat, dirfd, path, st, flags)
LEAT_WRAP_FD(int, fstat64, (int fd, struct stat64 *st), fd, SYS_fstat, fd, st)

/* before glibc 2.33 a version came first */
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags);
LEAT_EXPORT extern __typeof__(__xstat) __xstat64;
LEAT_EXPORT extern __typeof__(__lxstat) __lxstat64;
LEAT_EXPORT extern __typeof__(__fxstat) __fxstat64;
LEAT_EXPORT extern __typeof__(__fxstatat) __fxstatat64;

LEAT_EXPORT int __xstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return stat(path, st);
}
LEAT_ALIAS(__xstat, __xstat64);

LEAT_EXPORT int __lxstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return lstat(path, st);
}
LEAT_ALIAS(__lxstat, __lxstat64);

LEAT_EXPORT int __fxstat(int version, int fd, struct stat *st)
{
	(void)version;
	return fstat(fd, st);
}
LEAT_ALIAS(__fxstat, __fxstat64);

LEAT_EXPORT int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags)
{
	(void)version;
	return fstatat(dirfd, path, st, flags);
}
LEAT_ALIAS(__fxstatat, __fxstatat64);

/* --- names --- */

LEAT_WRAP_PATH(ssize_t, readlink, (const char *path, char *to, size_t size), SYS_readlinkat,
	       AT_FDCWD, path, to, size)
LEAT_WRAP_PATH(ssize_t, readlinkat, (int dirfd, const char *path, char *to, size_t size),
	       SYS_readlinkat, dirfd, path, to, size)
LEAT_WRAP_PATH(int, rename, (const char *from, const char *to), SYS_renameat2, AT_FDCWD, from,
	       AT_FDCWD, to, 0)
LEAT_WRAP_PATH(int, renameat, (int from_dir, const char *from, int to_dir, const char *to),
	       SYS_renameat2, from_dir, from, to_dir, to, 0)
LEAT_WRAP_PATH(int, renameat2,
	       (int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
	       SYS_renameat2, from_dir, from, to_dir, to, flags)
LEAT_WRAP_PATH(int, unlink, (const char *path), SYS_unlinkat, AT_FDCWD, path, 0)
LEAT_WRAP_PATH(int, unlinkat, (int dirfd, const char *path, int flags), SYS_unlinkat, dirfd, path,
	       flags)
LEAT_WRAP_PATH(int, rmdir, (const char *path), SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR)
LEAT_WRAP_PATH(int, mkdir, (const char *path, mode_t mode), SYS_mkdirat, AT_FDCWD, path, mode)
LEAT_WRAP_PATH(int, mkdirat, (int dirfd, const char *path, mode_t mode), SYS_mkdirat, dirfd, path,
	       mode)
LEAT_WRAP_PATH(int, link, (const char *from, const char *to), SYS_linkat, AT_FDCWD, from, AT_FDCWD,
	       to, 0)
LEAT_WRAP_PATH(int, linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
	       SYS_linkat, from_dir, from, to_dir, to, flags)
LEAT_WRAP_PATH(int, symlink, (const char *target, const char *path), SYS_symlinkat, target,
	       AT_FDCWD, path)
LEAT_WRAP_PATH(int, symlinkat, (const char *target, int dirfd, const char *path), SYS_symlinkat,
	       target, dirfd, path)
LEAT_WRAP_PATH(int, mknod, (const char *path, mode_t mode, dev_t dev), SYS_mknodat, AT_FDCWD, path,
	       mode, dev)
LEAT_WRAP_PATH(int, mknodat, (int dirfd, const char *path, mode_t mode, dev_t dev), SYS_mknodat,
	       dirfd, path, mode, dev)
LEAT_WRAP_PATH(int, mkfifo, (const char *path, mode_t mode), SYS_mknodat, AT_FDCWD, path,
	       mode | S_IFIFO, 0)
LEAT_WRAP_PATH(int, truncate, (const char *path, off_t size), SYS_truncate, path, size)
LEAT_ALIAS(truncate, truncate64);

/* --- the working directory --- */

LEAT_WRAP_PATH(int, chdir, (const char *path), SYS_chdir, path)
LEAT_WRAP_PATH(int, fchdir, (int fd), SYS_fchdir, fd)
LEAT_WRAP_PATH(int, chroot, (const char *path), SYS_chroot, path)
LEAT_WRAP_PATH(int, setns, (int fd, int kinds), SYS_setns, fd, kinds)
LEAT_WRAP_PATH(int, umount2, (const char *path, int flags), SYS_umount2, path, flags)
LEAT_WRAP_PATH(int, mount,
	       (const char *from, const char *path, const char *type, unsigned long flags,
		const void *data),
	       SYS_mount, from, path, type, flags, data)

LEAT_EXPORT char *getcwd(char *to, size_t size)
{
	char own[PATH_MAX];
	char *target = to ? to : own;
	long length = LEAT_PATH_CALL(SYS_getcwd, target, to ? size : sizeof own);

	if (leat_wrap_result(length) < 0 || to)
		return length < 0 ? NULL : to;
	if (size > 0 && size < (size_t)length) {
		errno = ERANGE;
		return NULL;
	}
	to = malloc(size ? size : (size_t)length);
	return to ? memcpy(to, own, (size_t)length) : NULL;
}

/* --- what a file is like --- */

LEAT_WRAP_PATH(int, chmod, (const char *path, mode_t mode), SYS_fchmodat, AT_FDCWD, path, mode)
LEAT_WRAP_PATH(int, chown, (const char *path, uid_t uid, gid_t gid), SYS_fchownat, AT_FDCWD, path,
	       uid, gid, 0)
LEAT_WRAP_PATH(int, lchown, (const char *path, uid_t uid, gid_t gid), SYS_fchownat, AT_FDCWD, path,
	       uid, gid, AT_SYMLINK_NOFOLLOW)
LEAT_WRAP_PATH(int, fchownat, (int dirfd, const char *path, uid_t uid, gid_t gid, int flags),
	       SYS_fchownat, dirfd, path, uid, gid, flags)
LEAT_WRAP_PATH(int, utimensat, (int dirfd, const char *path, const struct timespec t[2], int flags),
	       SYS_utimensat, dirfd, path, t, flags)
LEAT_WRAP_PATH(int, futimens, (int fd, const struct timespec t[2]), SYS_utimensat, fd, NULL, t, 0)

/* Without following links this needs the youngest form of the call. */
LEAT_EXPORT int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
	long result = flags ? LEAT_PATH_CALL(452 /* fchmodat2 */, dirfd, path, mode, flags)
			    : LEAT_PATH_CALL(SYS_fchmodat, dirfd, path, mode);

	return (int)leat_wrap_result(result == -ENOSYS ? -EOPNOTSUPP : result);
}

static long set_times(const char *path, const struct timeval t[2], int flags)
{
	struct timespec spec[2];

	for (int i = 0; t && i < 2; i++)
		spec[i] = (struct timespec){t[i].tv_sec, t[i].tv_usec * 1000};
	return LEAT_PATH_CALL(SYS_utimensat, AT_FDCWD, path, t ? spec : NULL, flags);
}

LEAT_EXPORT int utimes(const char *path, const struct timeval t[2])
{
	return (int)leat_wrap_result(set_times(path, t, 0));
}

LEAT_EXPORT int lutimes(const char *path, const struct timeval t[2])
{
	return (int)leat_wrap_result(set_times(path, t, AT_SYMLINK_NOFOLLOW));
}

LEAT_EXPORT int utime(const char *path, const struct utimbuf *t)
{
	struct timeval both[2];

	if (t) {
		both[0] = (struct timeval){t->actime, 0};
		both[1] = (struct timeval){t->modtime, 0};
	}
	return (int)leat_wrap_result(set_times(path, t ? both : NULL, 0));
}

LEAT_WRAP_PATH(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size),
	       SYS_getxattr, path, name, value, size)
LEAT_WRAP_PATH(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size),
	       SYS_lgetxattr, path, name, value, size)
LEAT_WRAP_PATH(int, setxattr,
	       (const char *path, const char *name, const void *value, size_t size, int flags),
	       SYS_setxattr, path, name, value, size, flags)
LEAT_WRAP_PATH(int, lsetxattr,
	       (const char *path, const char *name, const void *value, size_t size, int flags),
	       SYS_lsetxattr, path, name, value, size, flags)
LEAT_WRAP_PATH(ssize_t, listxattr, (const char *path, char *list, size_t size), SYS_listxattr, path,
	       list, size)
LEAT_WRAP_PATH(ssize_t, llistxattr, (const char *path, char *list, size_t size), SYS_llistxattr,
	       path, list, size)
LEAT_WRAP_PATH(int, removexattr, (const char *path, const char *name), SYS_removexattr, path, name)
LEAT_WRAP_PATH(int, lremovexattr, (const char *path, const char *name), SYS_lremovexattr, path,
	       name)

/* --- what brings or takes descriptors --- */

LEAT_WRAP_PATH(int, inotify_add_watch, (int fd, const char *path, uint32_t mask),
	       SYS_inotify_add_watch, fd, path, mask)
LEAT_WRAP_PATH(int, close_range, (unsigned first, unsigned last, int flags), SYS_close_range, first,
	       last, flags)
LEAT_WRAP_PATH(int, name_to_handle_at,
	       (int dirfd, const char *path, struct file_handle *handle, int *mount_id, int flags),
	       SYS_name_to_handle_at, dirfd, path, handle, mount_id, flags)
