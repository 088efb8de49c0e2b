/* All handlers, by the file they are in; hooks.c has the table. */
#ifndef LEAT_PRELOAD_HOOKS_HANDLERS_H
#define LEAT_PRELOAD_HOOKS_HANDLERS_H

#include "preload/hooks/hooks.h"
#include "preload/path/paths.h"

struct leat_fd;

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
	leat_hook_umount2, leat_hook_move_mount, leat_hook_open_tree;

/* process.c */
/* Connect, and have the programs that this one starts connect at once, too. */
void leat_confine(void);
leat_handler leat_hook_execve, leat_hook_execveat, leat_hook_confine, leat_hook_exit_group,
	leat_hook_no_such_call;

/* roll_call.c */
leat_first_half leat_hook_wait4, leat_hook_waitid;
leat_second_half leat_hook_wait4_end, leat_hook_waitid_end;

/* Publish what a call that moved data by itself (sendfile, splice...) has written
 * to `fd`: it ends at `end`, or at the descriptor's offset for -1. */
void leat_publish_to(int fd, int64_t end, int64_t written);
/* If several steps write the file: the daemon is to know that these bytes are this one's. */
void leat_tell_written(const struct leat_fd *r, uint64_t start, uint64_t length);
/* A consumer's descriptor of a file that still grows: how many of `length` bytes
 * from `offset` can be taken now, waiting for the first; `length` if it is final
 * or no such file. 0..length or -errno. *grows: more may come. */
int64_t leat_readable(int fd, int64_t offset, int64_t length, bool *grows);
/* Bytes of a file that is not retained, from `offset` on: are they still there? To be asked before
 * and after they are read. False is reported as a violation. */
bool leat_still_there(const struct leat_fd *r, uint64_t offset);
/* Wait for the commit of what `fd` reads, if it still grows. 0 or -errno. */
int leat_wait_whole(int fd);
/* The size the program sees by `fd` may not be the last word: remember it. */
void leat_note_size(int fd, uint64_t size);
/* Note that `fd` has read `length` bytes at `offset`, of `asked` there; 0: it went there, or goes
 * on with a request that was noted. */
void leat_note_read(int fd, uint64_t offset, uint64_t length, uint64_t asked);
void leat_note_read_by(struct leat_fd *r, uint64_t offset, uint64_t length, uint64_t asked);
/* The same of a mapping, of which all counts as read. */
void leat_note_mapped(int fd, uint64_t offset, uint64_t length);
/* A version is taken by who reads it, not by who only looks at its beginning: `n` bytes, or
 * -errno, of `asked` were read at `offset` (-1: the descriptor's own, which is behind them now).
 * Returns n. */
int64_t leat_note_taken(int fd, int64_t n, uint64_t asked, int64_t offset);

#endif
