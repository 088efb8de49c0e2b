/* Does every function of libc reach the hooks? Run under libleat-test.so: calls each function once
 * in a single-threaded process and once beside a thread (glibc has two copies of the calls that
 * can be cancelled) and looks whether the expected system call was counted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "counts.h"

static struct test_counts *counts;
static int failures;
static bool wrapped; /* what libc calls inside itself is not seen then */
static char buffer[4096];
static struct iovec vector = {buffer, 16};
static struct stat st;

/* The form of a call that the wrappers, or another glibc, may make instead. */
static long other_form(long nr)
{
	static const long forms[][2] = {
		{SYS_fstat, SYS_newfstatat}, {SYS_dup2, SYS_dup3},
		{SYS_open, SYS_openat},      {SYS_creat, SYS_openat},
		{SYS_access, SYS_faccessat}, {SYS_rename, SYS_renameat2},
		{SYS_link, SYS_linkat},      {SYS_renameat, SYS_renameat2},
		{SYS_unlink, SYS_unlinkat},  {SYS_rmdir, SYS_unlinkat},
		{SYS_mkdir, SYS_mkdirat},    {SYS_symlink, SYS_symlinkat},
		{SYS_chmod, SYS_fchmodat},   {SYS_readlink, SYS_readlinkat},
		{SYS_chown, SYS_fchownat},   {SYS_lchown, SYS_fchownat},
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (forms[i][0] == nr)
			return forms[i][1];
	return nr;
}

static unsigned long seen(long nr)
{
	return counts->calls[nr] + counts->calls[other_form(nr)];
}

static void check(const char *what, long result, long nr, unsigned long before)
{
	if (seen(nr) == before) {
		fprintf(stderr, "not seen: %s (result %ld)\n", what, result);
		failures++;
	}
}

/* CALL(number, expression): the expression must reach the hook as that system call. */
#define CALL(nr, expression)                                                                       \
	do {                                                                                       \
		unsigned long before_ = seen(nr);                                                  \
		check(#expression, (long)(expression), nr, before_);                               \
	} while (0)

static void data_calls(int fd, int other)
{
	off64_t zero = 0, at = 0;
	off_t offset = 0;
	int ready;

	CALL(SYS_write, write(fd, buffer, sizeof buffer));
	CALL(SYS_lseek, lseek(fd, 0, SEEK_SET));
	CALL(SYS_read, read(fd, buffer, 16));
	CALL(SYS_pread64, pread(fd, buffer, 16, 0));
	CALL(SYS_pwrite64, pwrite(fd, buffer, 16, 0));
	CALL(SYS_readv, readv(fd, &vector, 1));
	CALL(SYS_writev, writev(fd, &vector, 1));
	CALL(SYS_preadv, preadv(fd, &vector, 1, 0));
	CALL(SYS_pwritev, pwritev(fd, &vector, 1, 0));
	CALL(SYS_preadv2, preadv2(fd, &vector, 1, 0, RWF_HIPRI));
	CALL(SYS_pwritev2, pwritev2(fd, &vector, 1, 0, RWF_DSYNC));
	CALL(SYS_fsync, fsync(fd));
	CALL(SYS_fdatasync, fdatasync(fd));
	CALL(SYS_ftruncate, ftruncate(fd, 4096));
	CALL(SYS_fallocate, fallocate(fd, 0, 0, 4096));
	CALL(SYS_fallocate, posix_fallocate(fd, 0, 4096));
	CALL(SYS_fadvise64, posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL));
	CALL(SYS_sync_file_range, sync_file_range(fd, 0, 0, 0));
	CALL(SYS_sendfile, sendfile(other, fd, &offset, 16));
	CALL(SYS_copy_file_range, copy_file_range(fd, &zero, other, &at, 16, 0));
	CALL(SYS_mmap, munmap(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), 4096));
	CALL(SYS_fstat, fstat(fd, &st));
	CALL(SYS_flock, flock(fd, LOCK_SH));
	CALL(SYS_flock, flock(fd, LOCK_UN));
	CALL(SYS_fcntl, fcntl(fd, F_GETFL));
	CALL(SYS_ioctl, ioctl(fd, FIONREAD, &ready));
	CALL(SYS_fchmod, fchmod(fd, 0600));
	CALL(SYS_fchown, fchown(fd, getuid(), getgid()));
	CALL(SYS_utimensat, futimens(fd, NULL));
	CALL(SYS_fgetxattr, fgetxattr(fd, "user.x", buffer, 1));
	CALL(SYS_flistxattr, flistxattr(fd, buffer, 16));
	CALL(SYS_fsetxattr, fsetxattr(fd, "user.x", "1", 1, 0));
	CALL(SYS_fremovexattr, fremovexattr(fd, "user.x"));
}

static void descriptor_calls(int fd)
{
	int pipes[2], pair[2], copy;
	char byte = 'x';
	struct iovec one = {&byte, 1};
	struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
	off64_t zero = 0;

	CALL(SYS_dup, close(dup(fd)));
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	CALL(SYS_dup2, dup2(fd, copy));
	CALL(SYS_dup3, dup3(fd, copy, O_CLOEXEC));
	CALL(SYS_close, close(copy));
	CALL(SYS_close_range, close_range(200, 300, 0));
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	CALL(SYS_splice, splice(fd, &zero, pipes[1], NULL, 16, 0));
	CALL(SYS_vmsplice, vmsplice(pipes[1], &one, 1, 0));
	CALL(SYS_tee, tee(pipes[0], pipes[1], 1, SPLICE_F_NONBLOCK));
	CALL(SYS_sendmsg, sendmsg(pair[0], &message, 0));
	if (write(pair[0], &byte, 1) != 1)
		abort();
	CALL(SYS_recvmsg, recvmsg(pair[1], &message, 0));
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(pair[i]);
	}
}

static void name_calls(void)
{
	struct statfs fs;
	struct statx stx;

	CALL(SYS_openat, close(open("file", O_RDONLY)));
	CALL(SYS_openat, close(openat(AT_FDCWD, "file", O_RDONLY)));
	CALL(SYS_creat, close(creat("other", 0600)));
	if (!wrapped)
		CALL(SYS_openat, fclose(fopen("file", "r")));
	CALL(SYS_newfstatat, stat("file", &st));
	CALL(SYS_newfstatat, lstat("file", &st));
	CALL(SYS_newfstatat, fstatat(AT_FDCWD, "file", &st, 0));
	CALL(SYS_statx, statx(AT_FDCWD, "file", 0, STATX_SIZE, &stx));
	CALL(SYS_statfs, statfs("file", &fs));
	CALL(SYS_access, access("file", R_OK));
	CALL(SYS_faccessat2, faccessat(AT_FDCWD, "file", R_OK, AT_EACCESS));
	CALL(SYS_truncate, truncate("file", 100));
	CALL(SYS_rename, rename("other", "third"));
	CALL(SYS_renameat, renameat(AT_FDCWD, "third", AT_FDCWD, "other"));
	CALL(SYS_renameat2, renameat2(AT_FDCWD, "other", AT_FDCWD, "third", RENAME_NOREPLACE));
	CALL(SYS_link, link("third", "other"));
	CALL(SYS_unlink, unlink("other"));
	CALL(SYS_linkat, linkat(AT_FDCWD, "third", AT_FDCWD, "other", 0));
	CALL(SYS_unlinkat, unlinkat(AT_FDCWD, "other", 0));
	CALL(SYS_symlink, symlink("third", "other"));
	CALL(SYS_readlink, readlink("other", buffer, sizeof buffer));
	CALL(SYS_readlinkat, readlinkat(AT_FDCWD, "other", buffer, sizeof buffer));
	if (!wrapped)
		CALL(SYS_unlink, remove("other"));
	else
		CALL(SYS_unlink, unlink("other"));
	CALL(SYS_symlinkat, symlinkat("third", AT_FDCWD, "other"));
	CALL(SYS_unlink, unlink("other"));
	CALL(SYS_mknodat, mkfifo("other", 0600));
	CALL(SYS_unlink, unlink("other"));
	CALL(SYS_chmod, chmod("third", 0600));
	CALL(SYS_fchmodat, fchmodat(AT_FDCWD, "third", 0600, 0));
	CALL(SYS_chown, chown("third", getuid(), getgid()));
	CALL(SYS_lchown, lchown("third", getuid(), getgid()));
	CALL(SYS_fchownat, fchownat(AT_FDCWD, "third", getuid(), getgid(), 0));
	CALL(SYS_utimensat, utimensat(AT_FDCWD, "third", NULL, 0));
	CALL(SYS_utimensat, utime("third", NULL));
	CALL(SYS_utimensat, utimes("third", NULL));
	CALL(SYS_getxattr, getxattr("third", "user.x", buffer, 1));
	CALL(SYS_lgetxattr, lgetxattr("third", "user.x", buffer, 1));
	CALL(SYS_setxattr, setxattr("third", "user.x", "1", 1, 0));
	CALL(SYS_lsetxattr, lsetxattr("third", "user.x", "1", 1, 0));
	CALL(SYS_listxattr, listxattr("third", buffer, 16));
	CALL(SYS_llistxattr, llistxattr("third", buffer, 16));
	CALL(SYS_removexattr, removexattr("third", "user.x"));
	CALL(SYS_lremovexattr, lremovexattr("third", "user.x"));
	CALL(SYS_unlink, unlink("third"));
}

static void directory_calls(void)
{
	int here = open(".", O_RDONLY | O_DIRECTORY), watch = inotify_init();
	DIR *dir;

	CALL(SYS_mkdir, mkdir("sub", 0700));
	CALL(SYS_rmdir, rmdir("sub"));
	CALL(SYS_mkdirat, mkdirat(AT_FDCWD, "sub", 0700));
	CALL(SYS_chdir, chdir("sub"));
	CALL(SYS_getcwd, getcwd(buffer, sizeof buffer) == NULL);
	CALL(SYS_fchdir, fchdir(here));
	if (!wrapped) {
		CALL(SYS_openat, (dir = opendir("sub")) == NULL);
		CALL(SYS_getdents64, readdir(dir) == NULL);
		CALL(SYS_lseek, (rewinddir(dir), 0));
		CALL(SYS_close, closedir(dir));
	}
	CALL(SYS_inotify_add_watch, inotify_add_watch(watch, "sub", IN_CREATE));
	CALL(SYS_rmdir, rmdir("sub"));
	close(here);
	close(watch);
}

static void generic_calls(int fd)
{
	CALL(SYS_read, syscall(SYS_read, fd, buffer, 1));
	CALL(SYS_open, close((int)syscall(SYS_open, "file", O_RDONLY)));
	CALL(SYS_copy_file_range, syscall(SYS_copy_file_range, fd, NULL, -1, NULL, 1, 0));
	CALL(SYS_mmap,
	     munmap((void *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), 4096));
	if (syscall(SYS_getppid) != getppid() || syscall(100000) != -1 || errno != ENOSYS) {
		fprintf(stderr, "syscall() is broken\n");
		failures++;
	}
}

static void all_calls(void)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || other < 0)
		abort();
	data_calls(fd, other);
	descriptor_calls(fd);
	close(other);
	name_calls();
	directory_calls();
	generic_calls(fd);
	close(fd);
	unlink("file");
}

static void *run_all_calls(void *unused)
{
	all_calls();
	return unused;
}

int main(void)
{
	pthread_t thread;

	wrapped = getenv("LEAT_INTERCEPT") != NULL;
	if (syscall(TEST_COUNTS_CALL, TEST_COUNTS_MAGIC, &counts) != 0) {
		fprintf(stderr, "not intercepted\n");
		return 1;
	}
	all_calls();
	if (pthread_create(&thread, NULL, run_all_calls, NULL) || pthread_join(thread, NULL))
		return 1;
	return failures != 0;
}
