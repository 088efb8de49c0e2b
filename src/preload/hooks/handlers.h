/* All handlers, by the file they are in; hooks.c has the table. */
#ifndef LEAT_PRELOAD_HOOKS_HANDLERS_H
#define LEAT_PRELOAD_HOOKS_HANDLERS_H

#include "preload/hooks/hooks.h"

struct leat_fd;

/* What the kernel moves at most in one call. */
#define LEAT_MAX_RW 0x7ffff000

/* Every handler: does the call and returns what the program is to see, or LEAT_PASS
 * if the call is not ours and nothing is to be done after it. */
typedef long leat_handler(const struct leat_syscall *c);

/* Handlers of frequent calls of which the result has to be looked at even if they
 * are not ours. The first half may also change the call a little and return LEAT_TRY...; the second
 * half changes it back. */
typedef long leat_first_half(struct leat_syscall *c);
typedef long leat_second_half(struct leat_syscall *c, long result);

/* Such a call in place of another one, from start to end. */
static inline long leat_both_halves(struct leat_syscall *c, leat_first_half *first,
				    leat_second_half *second)
{
	long said = first(c), result;

	if (said > LEAT_TRY_LINK)
		return said;
	result = leat_as_is(c);
	if (said == LEAT_PASS || (said == LEAT_TRY_ERROR && result >= 0))
		return result;
	return second(c, result);
}

/* open.c */
leat_first_half leat_hook_open, leat_hook_openat;
leat_second_half leat_hook_open_end, leat_hook_openat_end;
leat_handler leat_hook_creat, leat_hook_openat2;

/* read.c */
leat_handler leat_hook_read, leat_hook_pread, leat_hook_readv, leat_hook_preadv;

/* write.c */
leat_handler leat_hook_write, leat_hook_pwrite, leat_hook_writev, leat_hook_pwritev;

/* size.c */
leat_handler leat_hook_lseek, leat_hook_ftruncate, leat_hook_fallocate, leat_hook_truncate;

/* copy.c */
leat_handler leat_hook_sendfile, leat_hook_copy_file_range, leat_hook_splice, leat_hook_mmap,
	leat_hook_ioctl;

/* fd.c */
leat_handler leat_hook_close, leat_hook_close_range, leat_hook_dup, leat_hook_dup2,
	leat_hook_sendmsg, leat_hook_sendmmsg, leat_hook_recvmsg, leat_hook_recvmmsg,
	leat_hook_pidfd_getfd;

/* lock.c */
leat_handler leat_hook_fcntl, leat_hook_flock;

/* stat.c */
leat_first_half leat_hook_newfstatat, leat_hook_statx;
leat_second_half leat_hook_newfstatat_end, leat_hook_statx_end;
leat_handler leat_hook_stat, leat_hook_lstat, leat_hook_fstat, leat_hook_statfs;

/* meta.c */
leat_first_half leat_hook_access, leat_hook_faccessat;
leat_second_half leat_hook_access_end, leat_hook_faccessat_end;
leat_handler leat_hook_readlink, leat_hook_readlinkat, leat_hook_chmod, leat_hook_fchmodat,
	leat_hook_chown, leat_hook_lchown, leat_hook_fchownat, leat_hook_utime, leat_hook_futimesat,
	leat_hook_utimensat, leat_hook_xattr, leat_hook_lxattr, leat_hook_xattr_change,
	leat_hook_lxattr_change, leat_hook_change_by_fd, leat_hook_file_handle,
	leat_hook_open_handle, leat_hook_inotify_add_watch;

/* names.c */
leat_handler leat_hook_rename, leat_hook_renameat, leat_hook_unlink, leat_hook_unlinkat,
	leat_hook_rmdir, leat_hook_link, leat_hook_linkat, leat_hook_symlink, leat_hook_symlinkat,
	leat_hook_mkdir, leat_hook_mkdirat, leat_hook_mknod, leat_hook_mknodat;

/* socket.c */
leat_handler leat_hook_bind, leat_hook_connect;

/* dir.c */
leat_handler leat_hook_chdir, leat_hook_fchdir, leat_hook_getcwd, leat_hook_getdents64;
/* Seek in a directory: cookies of the daemon's listing. */
long leat_dir_seek(int fd, int64_t offset, int whence);
/* Wait as a listing of this directory would, so that its times are final: tar looks at them before
 * and after. Does nothing for other descriptors; what goes wrong shows at the listing. */
void leat_dir_settle(int fd);

/* view.c */
leat_handler leat_hook_chroot, leat_hook_pivot_root, leat_hook_setns, leat_hook_mount,
	leat_hook_umount2, leat_hook_move_mount, leat_hook_open_tree, leat_hook_fsconfig;

/* exec.c */
leat_handler leat_hook_execve, leat_hook_execveat;

/* process.c */
leat_handler leat_hook_confine, leat_hook_exit_group, leat_hook_no_such_call;
/* This process is, perhaps, another user than before. */
leat_handler leat_hook_change_user;
/* A thread or a vfork child is to come: libc changes the user of all threads unseen, and what the
 * child takes would be its own, but remembered here. */
leat_handler leat_hook_share_memory;

/* wait.c */
leat_first_half leat_hook_wait4, leat_hook_waitid;
leat_second_half leat_hook_wait4_end, leat_hook_waitid_end;

/* Publish what a call that moved data by itself (sendfile, splice...) has written
 * to `fd`: it ends at `end`, or at the descriptor's offset for -1. */
void leat_publish_to(int fd, int64_t end, int64_t written);
/* If several steps write the file: the daemon is to know that these bytes are this one's. */
void leat_tell_written(const struct leat_fd *r, uint64_t start, uint64_t length);

#endif
