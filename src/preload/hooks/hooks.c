/* The border to the engine: which handler does what. */
#include "preload/hooks/hooks.h"

#include "base/fault.h"
#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/connection/roll_call.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/marks.h"
#include "preload/core/process.h"
#include "preload/engine/calls.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/migrate.h"
#include "preload/hooks/handlers.h"
#include "preload/path/paths.h"
#include "shm/limit.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

enum half { WHOLE, OPENAT, NEWFSTATAT, STATX, FACCESSAT, OPEN, ACCESS, WAIT4, WAITID };

static leat_second_half *const second_halves[] = {
	[OPENAT] = leat_hook_openat_end, [NEWFSTATAT] = leat_hook_newfstatat_end,
	[STATX] = leat_hook_statx_end,   [FACCESSAT] = leat_hook_faccessat_end,
	[OPEN] = leat_hook_open_end,     [ACCESS] = leat_hook_access_end,
	[WAIT4] = leat_hook_wait4_end,   [WAITID] = leat_hook_waitid_end,
};

/* What a call's first argument is, if it is a descriptor: hidden ones are not
 * there for the program. */
struct entry {
	union {
		leat_handler *handler;
		leat_first_half *first; /* if there is a second */
	};
	uint16_t number; /* of the call */
	uint8_t second;  /* enum half */
	bool fd;
	bool stays; /* the call is about the descriptor, wherever its file is */
	bool moves; /* the result is a number of bytes read or written */
};

#define ON_FD(nr, function)                                                                        \
	{                                                                                          \
		.handler = (function), .fd = true, .number = (nr)                                  \
	}
#define MOVES(nr, function)                                                                        \
	{                                                                                          \
		.handler = (function), .fd = true, .moves = true, .number = (nr)                   \
	}
#define ON_NUMBER(nr, function)                                                                    \
	{                                                                                          \
		.handler = (function), .fd = true, .stays = true, .number = (nr)                   \
	}
#define ON_PATH(nr, function)                                                                      \
	{                                                                                          \
		.handler = (function), .number = (nr)                                              \
	}
#define IN_HALVES(nr, function, half)                                                              \
	{                                                                                          \
		.first = (function), .second = (half), .number = (nr)                              \
	}
/* nothing to decide, but the descriptor may be a hidden one */
#define PASS(nr)                                                                                   \
	{                                                                                          \
		.fd = true, .number = (nr)                                                         \
	}

/* Without gaps: each page of it is copied at each start, for its addresses. */
static const struct entry table[] = {
	MOVES(SYS_read, leat_hook_read),
	MOVES(SYS_pread64, leat_hook_pread),
	MOVES(SYS_readv, leat_hook_readv),
	MOVES(SYS_preadv, leat_hook_preadv),
	MOVES(SYS_preadv2, leat_hook_preadv),
	MOVES(SYS_write, leat_hook_write),
	MOVES(SYS_pwrite64, leat_hook_pwrite),
	MOVES(SYS_writev, leat_hook_writev),
	MOVES(SYS_pwritev, leat_hook_pwritev),
	MOVES(SYS_pwritev2, leat_hook_pwritev),
	ON_FD(SYS_lseek, leat_hook_lseek),
	ON_FD(SYS_ftruncate, leat_hook_ftruncate),
	ON_FD(SYS_fallocate, leat_hook_fallocate),
	ON_FD(SYS_fstat, leat_hook_fstat),
	ON_NUMBER(SYS_close, leat_hook_close),
	ON_NUMBER(SYS_dup, leat_hook_dup),
	ON_NUMBER(SYS_dup3, leat_hook_dup2),
	ON_FD(SYS_fcntl, leat_hook_fcntl),
	ON_FD(SYS_flock, leat_hook_flock),
	ON_FD(SYS_ioctl, leat_hook_ioctl),
	ON_FD(SYS_getdents64, leat_hook_getdents64),
	MOVES(SYS_sendfile, leat_hook_sendfile),
	MOVES(SYS_copy_file_range, leat_hook_copy_file_range),
	MOVES(SYS_splice, leat_hook_splice),
	ON_FD(SYS_fchdir, leat_hook_fchdir),
	PASS(SYS_fsync),
	PASS(SYS_fdatasync),
	ON_FD(SYS_fchmod, leat_hook_change_by_fd),
	ON_FD(SYS_fchown, leat_hook_change_by_fd),
	ON_FD(SYS_fsetxattr, leat_hook_change_by_fd),
	ON_FD(SYS_fremovexattr, leat_hook_change_by_fd),
	PASS(SYS_fstatfs),
	PASS(SYS_fgetxattr),
	PASS(SYS_flistxattr),
	PASS(SYS_fadvise64),
	PASS(SYS_readahead),
	ON_PATH(SYS_mmap, leat_hook_mmap),
	ON_PATH(SYS_close_range, leat_hook_close_range),
	ON_NUMBER(SYS_bind, leat_hook_bind),
	ON_NUMBER(SYS_connect, leat_hook_connect),
	ON_PATH(SYS_sendmsg, leat_hook_sendmsg),
	ON_PATH(SYS_sendmmsg, leat_hook_sendmmsg),
	ON_PATH(SYS_recvmsg, leat_hook_recvmsg),
	ON_PATH(SYS_recvmmsg, leat_hook_recvmmsg),
	ON_PATH(SYS_pidfd_getfd, leat_hook_pidfd_getfd),
	IN_HALVES(SYS_openat, leat_hook_openat, OPENAT),
	ON_PATH(SYS_openat2, leat_hook_openat2),
	IN_HALVES(SYS_newfstatat, leat_hook_newfstatat, NEWFSTATAT),
	IN_HALVES(SYS_statx, leat_hook_statx, STATX),
	ON_PATH(SYS_statfs, leat_hook_statfs),
	IN_HALVES(SYS_faccessat, leat_hook_faccessat, FACCESSAT),
	IN_HALVES(SYS_faccessat2, leat_hook_faccessat, FACCESSAT),
	ON_PATH(SYS_readlinkat, leat_hook_readlinkat),
	ON_PATH(SYS_truncate, leat_hook_truncate),
	ON_PATH(SYS_fchmodat, leat_hook_fchmodat),
	ON_PATH(SYS_fchmodat2, leat_hook_fchmodat),
	ON_PATH(SYS_fchownat, leat_hook_fchownat),
	ON_PATH(SYS_utimensat, leat_hook_utimensat),
	ON_PATH(SYS_getxattr, leat_hook_xattr),
	ON_PATH(SYS_listxattr, leat_hook_xattr),
	ON_PATH(SYS_lgetxattr, leat_hook_lxattr),
	ON_PATH(SYS_llistxattr, leat_hook_lxattr),
	ON_PATH(SYS_setxattr, leat_hook_xattr_change),
	ON_PATH(SYS_removexattr, leat_hook_xattr_change),
	ON_PATH(SYS_lsetxattr, leat_hook_lxattr_change),
	ON_PATH(SYS_lremovexattr, leat_hook_lxattr_change),
	ON_PATH(SYS_name_to_handle_at, leat_hook_file_handle),
	ON_PATH(SYS_open_by_handle_at, leat_hook_open_handle),
	ON_PATH(SYS_inotify_add_watch, leat_hook_inotify_add_watch),
	ON_PATH(SYS_renameat2, leat_hook_renameat),
	ON_PATH(SYS_unlinkat, leat_hook_unlinkat),
	ON_PATH(SYS_linkat, leat_hook_linkat),
	ON_PATH(SYS_symlinkat, leat_hook_symlinkat),
	ON_PATH(SYS_mkdirat, leat_hook_mkdirat),
	ON_PATH(SYS_mknodat, leat_hook_mknodat),
	ON_PATH(SYS_chdir, leat_hook_chdir),
	ON_PATH(SYS_chroot, leat_hook_chroot),
	ON_PATH(SYS_getcwd, leat_hook_getcwd),
	ON_PATH(SYS_execve, leat_hook_execve),
	ON_PATH(SYS_execveat, leat_hook_execveat),
	ON_PATH(SYS_setuid, leat_hook_change_user),
	ON_PATH(SYS_setgid, leat_hook_change_user),
	ON_PATH(SYS_setreuid, leat_hook_change_user),
	ON_PATH(SYS_setregid, leat_hook_change_user),
	ON_PATH(SYS_setresuid, leat_hook_change_user),
	ON_PATH(SYS_setresgid, leat_hook_change_user),
	ON_PATH(SYS_setgroups, leat_hook_change_user),
	ON_PATH(SYS_setfsuid, leat_hook_change_user),
	ON_PATH(SYS_setfsgid, leat_hook_change_user),
	ON_PATH(SYS_clone, leat_hook_share_memory),
	ON_PATH(SYS_clone3, leat_hook_share_memory),
	ON_PATH(SYS_unshare, leat_hook_confine),
	ON_PATH(SYS_setns, leat_hook_setns),
	ON_PATH(SYS_pivot_root, leat_hook_pivot_root),
	ON_PATH(SYS_mount, leat_hook_mount),
	ON_PATH(SYS_umount2, leat_hook_umount2),
	ON_PATH(SYS_move_mount, leat_hook_move_mount),
	ON_PATH(SYS_open_tree, leat_hook_open_tree),
	ON_PATH(SYS_open_tree_attr, leat_hook_open_tree),
	ON_PATH(SYS_fsconfig, leat_hook_fsconfig),
	ON_PATH(SYS_prctl, leat_hook_confine),
	ON_PATH(SYS_seccomp, leat_hook_confine),
	IN_HALVES(SYS_wait4, leat_hook_wait4, WAIT4),
	IN_HALVES(SYS_waitid, leat_hook_waitid, WAITID),
	ON_PATH(SYS_exit_group, leat_hook_exit_group),
	ON_PATH(SYS_io_uring_setup, leat_hook_no_such_call),
	ON_PATH(SYS_io_setup, leat_hook_no_such_call),
#ifdef SYS_open /* the forms that newer architectures do without */
	ON_NUMBER(SYS_dup2, leat_hook_dup2),
	IN_HALVES(SYS_open, leat_hook_open, OPEN),
	ON_PATH(SYS_creat, leat_hook_creat),
	ON_PATH(SYS_stat, leat_hook_stat),
	ON_PATH(SYS_lstat, leat_hook_lstat),
	IN_HALVES(SYS_access, leat_hook_access, ACCESS),
	ON_PATH(SYS_readlink, leat_hook_readlink),
	ON_PATH(SYS_chmod, leat_hook_chmod),
	ON_PATH(SYS_chown, leat_hook_chown),
	ON_PATH(SYS_lchown, leat_hook_lchown),
	ON_PATH(SYS_utime, leat_hook_utime),
	ON_PATH(SYS_utimes, leat_hook_futimesat),
	ON_PATH(SYS_futimesat, leat_hook_futimesat),
	ON_PATH(SYS_rename, leat_hook_rename),
	ON_PATH(SYS_renameat, leat_hook_renameat),
	ON_PATH(SYS_unlink, leat_hook_unlink),
	ON_PATH(SYS_rmdir, leat_hook_rmdir),
	ON_PATH(SYS_link, leat_hook_link),
	ON_PATH(SYS_symlink, leat_hook_symlink),
	ON_PATH(SYS_mkdir, leat_hook_mkdir),
	ON_PATH(SYS_mknod, leat_hook_mknod),
	ON_PATH(SYS_vfork, leat_hook_share_memory),
#endif
};

enum { ENTRIES = sizeof(table) / sizeof(*table) };
_Static_assert(ENTRIES <= UINT8_MAX, "an entry and nothing fit into a byte");

static uint8_t entry_of[LEAT_CALLS]; /* index + 1; 0: none */

static void index_table(void)
{
	for (size_t i = 0; i < ENTRIES; i++)
		entry_of[table[i].number] = (uint8_t)(i + 1);
}

static inline long begin(struct leat_syscall *c)
{
	const struct entry *entry;

	if ((unsigned long)c->nr >= LEAT_CALLS || !entry_of[c->nr])
		return LEAT_PASS;
	entry = &table[entry_of[c->nr] - 1];
	if (entry->second)
		return entry->first(c);
	if (entry->fd && leat_fd_hidden((int)c->a[0]))
		return -EBADF;
	if (entry->fd && !entry->stays) {
		long rc = leat_follow_first((int)c->a[0]);

		if (rc)
			return rc;
	}
	return entry->handler ? entry->handler(c) : LEAT_PASS;
}

/* The way of a process whose reads and writes are held to a rate. */
static __attribute__((noinline)) long begin_limited(struct leat_syscall *c)
{
	const long nr = c->nr, said = begin(c);

	if (said > 0 && table[entry_of[nr] - 1].moves)
		leat_limit_hold(leat_client_limit(), (uint64_t)said);
	return said;
}

long leat_hook_begin(struct leat_syscall *c)
{
	if (leat_active == LEAT_ACTIVE)
		return begin(c);
	return leat_active ? begin_limited(c) : LEAT_PASS;
}

long leat_hook_end(struct leat_syscall *c, long result)
{
	return second_halves[table[entry_of[c->nr] - 1].second](c, result);
}

void leat_fork_child(void)
{
	leat_roll_call_forked();
	leat_client_fork_child();
	leat_fd_fork_child();
}

void leat_vfork_parent(long child)
{
	leat_roll_call_vforked(child);
}

/* Once: the programs that it starts have names of their own. */
static void take_name(char **envp)
{
	while (*envp && strncmp(*envp, LEAT_CALLED, strlen(LEAT_CALLED)) != 0)
		envp++;
	if (!*envp)
		return;
	raw(SYS_prctl, PR_SET_NAME, *envp + strlen(LEAT_CALLED));
	for (; *envp; envp++)
		envp[0] = envp[1];
}

void leat_hooks_init(char **envp)
{
	take_name(envp);
	if (!leat_session_find(envp) || leat_client_init(leat_fd_fork_child))
		return;
	LEAT_FAULT_SIDE(envp, leat_session.step);
	index_table();
	/* What it has by other names, or inherited, it would use unseen. */
	if (!leat_session_is_there())
		leat_lost_end(LEAT_LOST_RENAMED);
	if (leat_environment_get(envp, "LEAT_CONFINED"))
		leat_client_confine();
	leat_path_init();
	leat_fd_adopt_all(envp);
	leat_roll_call_begin();
	if (leat_lost_any())
		leat_lost_end(LEAT_LOST_BROKEN);
	leat_active = leat_limit_is_set(leat_client_limit()) ? LEAT_ACTIVE_LIMITED : LEAT_ACTIVE;
}
