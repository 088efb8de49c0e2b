/* libleat-wrap.so: the functions of libc that take descriptors, wrapped. The degraded mode, for
 * where libc cannot be patched. What libc does inside itself (stdio, opendir, posix_spawn) is not
 * seen; see docs. */
#include "preload/wrap/wrap.h"

#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/hooks/hooks.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

long leat_wrap_result(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

/* libc's own blocking calls let a thread be cancelled inside; so do these. */
static long cancellable(long nr, long a, long b, long c, long d, long e, long f)
{
	int before = PTHREAD_CANCEL_DEFERRED;
	long result;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	result = leat_raw(nr, a, b, c, d, e, f);
	pthread_setcanceltype(before, &before);
	return result;
}

long leat_wrap_fd(long fd, long nr, long a, long b, long c, long d, long e, long f)
{
	if (fd >= 0 && fd < LEAT_MAX_FD && leat_fd_kinds[fd])
		return leat_hook(nr, a, b, c, d, e, f);
	return cancellable(nr, a, b, c, d, e, f);
}

long leat_wrap_path(long nr, long a, long b, long c, long d, long e, long f)
{
	return leat_active ? leat_hook(nr, a, b, c, d, e, f) : leat_raw(nr, a, b, c, d, e, f);
}

/* --- data --- */

LEAT_WRAP_FD(ssize_t, read, (int fd, void *to, size_t size), fd, SYS_read, fd, to, size)
LEAT_WRAP_FD(ssize_t, write, (int fd, const void *from, size_t size), fd, SYS_write, fd, from, size)
LEAT_WRAP_FD(ssize_t, pread, (int fd, void *to, size_t size, off_t at), fd, SYS_pread64, fd, to,
	     size, at)
LEAT_ALIAS(pread, pread64);
LEAT_WRAP_FD(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), fd, SYS_pwrite64,
	     fd, from, size, at)
LEAT_ALIAS(pwrite, pwrite64);
LEAT_WRAP_FD(ssize_t, readv, (int fd, const struct iovec *v, int n), fd, SYS_readv, fd, v, n)
LEAT_WRAP_FD(ssize_t, writev, (int fd, const struct iovec *v, int n), fd, SYS_writev, fd, v, n)
LEAT_WRAP_FD(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), fd, SYS_preadv, fd,
	     v, n, at)
LEAT_ALIAS(preadv, preadv64);
LEAT_WRAP_FD(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), fd, SYS_pwritev,
	     fd, v, n, at)
LEAT_ALIAS(pwritev, pwritev64);
LEAT_WRAP_FD(ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags), fd,
	     SYS_preadv2, fd, v, n, at, 0, flags)
LEAT_ALIAS(preadv2, preadv64v2);
LEAT_WRAP_FD(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int flags), fd,
	     SYS_pwritev2, fd, v, n, at, 0, flags)
LEAT_ALIAS(pwritev2, pwritev64v2);
LEAT_WRAP_FD(off_t, lseek, (int fd, off_t to, int whence), fd, SYS_lseek, fd, to, whence)
LEAT_ALIAS(lseek, lseek64);
LEAT_WRAP_FD(int, ftruncate, (int fd, off_t size), fd, SYS_ftruncate, fd, size)
LEAT_ALIAS(ftruncate, ftruncate64);
LEAT_WRAP_FD(int, fallocate, (int fd, int mode, off_t at, off_t size), fd, SYS_fallocate, fd, mode,
	     at, size)
LEAT_ALIAS(fallocate, fallocate64);
LEAT_WRAP_FD(int, fsync, (int fd), fd, SYS_fsync, fd)
LEAT_WRAP_FD(int, fdatasync, (int fd), fd, SYS_fdatasync, fd)
LEAT_WRAP_FD(int, syncfs, (int fd), fd, SYS_syncfs, fd)
LEAT_WRAP_FD(int, sync_file_range, (int fd, off_t at, off_t size, unsigned flags), fd,
	     SYS_sync_file_range, fd, at, size, flags)
LEAT_WRAP_FD(ssize_t, readahead, (int fd, off_t at, size_t size), fd, SYS_readahead, fd, at, size)

/* These two return the error instead of setting errno. */
LEAT_EXPORT int posix_fallocate(int fd, off_t at, off_t size)
{
	return (int)-LEAT_FD_CALL(fd, SYS_fallocate, fd, 0, at, size);
}
LEAT_ALIAS(posix_fallocate, posix_fallocate64);

LEAT_EXPORT int posix_fadvise(int fd, off_t at, off_t size, int advice)
{
	return (int)-LEAT_FD_CALL(fd, SYS_fadvise64, fd, at, size, advice);
}
LEAT_ALIAS(posix_fadvise, posix_fadvise64);

/* --- two descriptors: the one that is leat's decides --- */

static long ours_of(long a, long b)
{
	return a >= 0 && a < LEAT_MAX_FD && leat_fd_kinds[a] ? a : b;
}

LEAT_WRAP_FD(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), ours_of(to, from),
	     SYS_sendfile, to, from, at, size)
LEAT_ALIAS(sendfile, sendfile64);
LEAT_WRAP_FD(ssize_t, copy_file_range,
	     (int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	     ours_of(from, to), SYS_copy_file_range, from, from_at, to, to_at, size, flags)
LEAT_WRAP_FD(ssize_t, splice,
	     (int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	     ours_of(from, to), SYS_splice, from, from_at, to, to_at, size, flags)
LEAT_WRAP_FD(ssize_t, tee, (int from, int to, size_t size, unsigned flags), ours_of(from, to),
	     SYS_tee, from, to, size, flags)
LEAT_WRAP_FD(ssize_t, vmsplice, (int fd, const struct iovec *v, size_t n, unsigned flags), fd,
	     SYS_vmsplice, fd, v, n, flags)
LEAT_WRAP_FD(int, dup3, (int from, int to, int flags), ours_of(from, to), SYS_dup3, from, to, flags)

LEAT_EXPORT int dup2(int from, int to)
{
	if (from == to) /* dup3 refuses what dup2 allows */
		return leat_wrap_result(leat_raw(SYS_fcntl, from, F_GETFD, 0, 0, 0, 0)) < 0 ? -1
											    : to;
	return (int)leat_wrap_result(LEAT_FD_CALL(ours_of(from, to), SYS_dup3, from, to, 0));
}

/* --- the descriptor itself --- */

LEAT_WRAP_FD(int, close, (int fd), fd, SYS_close, fd)
LEAT_WRAP_FD(int, dup, (int fd), fd, SYS_dup, fd)
LEAT_WRAP_FD(int, flock, (int fd, int operation), fd, SYS_flock, fd, operation)
LEAT_WRAP_FD(int, fchmod, (int fd, mode_t mode), fd, SYS_fchmod, fd, mode)
LEAT_WRAP_FD(int, fchown, (int fd, uid_t uid, gid_t gid), fd, SYS_fchown, fd, uid, gid)
LEAT_WRAP_FD(int, fstatfs, (int fd, struct statfs *fs), fd, SYS_fstatfs, fd, fs)
LEAT_WRAP_FD(int, fstatfs64, (int fd, struct statfs64 *fs), fd, SYS_fstatfs, fd, fs)
LEAT_WRAP_FD(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size), fd,
	     SYS_fgetxattr, fd, name, value, size)
LEAT_WRAP_FD(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
	     fd, SYS_fsetxattr, fd, name, value, size, flags)
LEAT_WRAP_FD(ssize_t, flistxattr, (int fd, char *list, size_t size), fd, SYS_flistxattr, fd, list,
	     size)
LEAT_WRAP_FD(int, fremovexattr, (int fd, const char *name), fd, SYS_fremovexattr, fd, name)

LEAT_EXPORT int fcntl(int fd, int command, ...)
{
	va_list rest;
	long argument;

	va_start(rest, command);
	argument = va_arg(rest, long);
	va_end(rest);
	return (int)leat_wrap_result(LEAT_FD_CALL(fd, SYS_fcntl, fd, command, argument));
}
LEAT_ALIAS(fcntl, fcntl64);

LEAT_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	long argument;

	va_start(rest, request);
	argument = va_arg(rest, long);
	va_end(rest);
	return (int)leat_wrap_result(LEAT_FD_CALL(fd, SYS_ioctl, fd, request, argument));
}

LEAT_EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	long result =
		fd < 0 ? leat_raw(SYS_mmap, (long)at, (long)size, protection, flags, fd, offset)
		       : LEAT_FD_CALL(fd, SYS_mmap, at, size, protection, flags, fd, offset);

	return (void *)leat_wrap_result(result); /* MAP_FAILED is -1 too */
}
LEAT_ALIAS(mmap, mmap64);

/* fortified names: the caller's buffer is known to have `capacity` bytes */
LEAT_EXPORT ssize_t __read_chk(int fd, void *to, size_t size, size_t capacity);
LEAT_EXPORT ssize_t __pread_chk(int fd, void *to, size_t size, off_t at, size_t capacity);
LEAT_EXPORT extern __typeof__(__pread_chk) __pread64_chk;

LEAT_EXPORT ssize_t __read_chk(int fd, void *to, size_t size, size_t capacity)
{
	if (size > capacity)
		abort();
	return read(fd, to, size);
}

LEAT_EXPORT ssize_t __pread_chk(int fd, void *to, size_t size, off_t at, size_t capacity)
{
	if (size > capacity)
		abort();
	return pread(fd, to, size, at);
}
LEAT_ALIAS(__pread_chk, __pread64_chk);
