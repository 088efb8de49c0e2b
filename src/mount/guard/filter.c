/* The kernel moves bytes of a FUSE file by sendfile and its kind out of its page cache, and takes
 * the size it was last told for the end: of a file that grows that would be a false end. So it does
 * with reads by io_uring and kernel AIO. Behind the mount these calls are refused as by a kernel
 * without them, and programs read and write instead; from sendfile by EINVAL, since of ENOSYS Java
 * and libuv (Node.js) make an error.
 *
 * Mounts, and entering namespaces, are the server's to allow (bypass.c).
 */
#include "mount/guard/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(member)                                                                               \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, member))
/* If it is this call: that is the answer. */
#define ANSWER(call, answer)                                                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, (answer))
#define REFUSE(call, error) ANSWER(call, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* If it is this call: ask the server. */
#define ASK(call) ANSWER(call, SECCOMP_RET_USER_NOTIF)
/* The same if it is with such an argument (its lower half). */
#define ASK_IF(call, argument, mask, value)                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 5), LOAD(args[argument]),                   \
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (mask)),                                       \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1),                                \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF), ALLOW
#define COUNT(...) (sizeof((struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter))
#define OF_ARCH(arch, ...)                                                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (arch), 0, COUNT(__VA_ARGS__)), __VA_ARGS__

/* Newer than the headers may be; the same number everywhere. */
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

/* Numbers of 32-bit programs. */
enum {
	I386_MOUNT = 21,
	I386_UMOUNT = 22,
	I386_UMOUNT2 = 52,
	I386_SENDFILE = 187,
	I386_PIVOT_ROOT = 217,
	I386_SENDFILE64 = 239,
	I386_IO_SETUP = 245,
	I386_SPLICE = 313,
	I386_SETNS = 346,
	I386_COPY_FILE_RANGE = 377,
	I386_IO_URING_SETUP = 425,
	I386_OPEN_TREE = 428,
	I386_MOVE_MOUNT = 429,
	I386_FSCONFIG = 431,
	I386_OPEN_TREE_ATTR = 467,
};

#define NONE_NATIVE                                                                                \
	REFUSE(SYS_io_uring_setup, ENOSYS), REFUSE(SYS_io_setup, ENOSYS),                          \
		REFUSE(SYS_sendfile, EINVAL), REFUSE(SYS_splice, EINVAL),                          \
		REFUSE(SYS_copy_file_range, ENOSYS)
#define NONE_I386                                                                                  \
	REFUSE(I386_IO_URING_SETUP, ENOSYS), REFUSE(I386_IO_SETUP, ENOSYS),                        \
		REFUSE(I386_SENDFILE, EINVAL), REFUSE(I386_SENDFILE64, EINVAL),                    \
		REFUSE(I386_SPLICE, EINVAL), REFUSE(I386_COPY_FILE_RANGE, ENOSYS)
#define BARE_TREE(call) ASK_IF(call, 2, OPEN_TREE_CLONE | AT_RECURSIVE, OPEN_TREE_CLONE)

static const struct sock_filter asking[] = {
	LOAD(arch),
#ifdef NATIVE
	OF_ARCH(NATIVE, LOAD(nr), NONE_NATIVE, ASK(SYS_mount), ASK(SYS_umount2),
		ASK(SYS_pivot_root), ASK(SYS_move_mount), ASK(SYS_fsconfig), ASK(SYS_setns),
		BARE_TREE(SYS_open_tree), BARE_TREE(SYS_open_tree_attr), ALLOW),
#endif
#ifdef __x86_64__
	OF_ARCH(AUDIT_ARCH_I386, LOAD(nr), NONE_I386, ASK(I386_MOUNT), ASK(I386_UMOUNT),
		ASK(I386_UMOUNT2), ASK(I386_PIVOT_ROOT), ASK(I386_MOVE_MOUNT), ASK(I386_FSCONFIG),
		ASK(I386_SETNS), BARE_TREE(I386_OPEN_TREE), BARE_TREE(I386_OPEN_TREE_ATTR), ALLOW),
#endif
	ALLOW,
};

/* Where another listener is there already, and nobody of ours can be asked: the call fails
 * (ENOSYS). That is not for all mounts, which engines live by. */
#define BARE_BIND(call) ASK_IF(call, 3, MS_BIND | MS_REC | MS_REMOUNT, MS_BIND)

static const struct sock_filter alone[] = {
	LOAD(arch),
#ifdef NATIVE
	OF_ARCH(NATIVE, LOAD(nr), NONE_NATIVE, BARE_BIND(SYS_mount), ASK(SYS_setns),
		BARE_TREE(SYS_open_tree), BARE_TREE(SYS_open_tree_attr), ALLOW),
#endif
#ifdef __x86_64__
	OF_ARCH(AUDIT_ARCH_I386, LOAD(nr), NONE_I386, BARE_BIND(I386_MOUNT), ASK(I386_SETNS),
		BARE_TREE(I386_OPEN_TREE), BARE_TREE(I386_OPEN_TREE_ATTR), ALLOW),
#endif
	ALLOW,
};

static long set(const struct sock_filter *program, size_t length, unsigned flags)
{
	const struct sock_fprog filter = {.len = (unsigned short)length,
					  .filter = (struct sock_filter *)(uintptr_t)program};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

static int install(int *listener)
{
	long fd = set(asking, sizeof(asking) / sizeof(*asking), SECCOMP_FILTER_FLAG_NEW_LISTENER);

	*listener = (int)fd;
	if (fd < 0 && errno == EBUSY)
		fd = set(alone, sizeof(alone) / sizeof(*alone), 0);
	return fd < 0 ? -errno : 0;
}

int leat_filter_install(int *listener)
{
	int rc = install(listener);

	/* Without rights over its namespace a process has to give up those to come. */
	if (rc == -EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		rc = install(listener);
	return rc;
}

#ifdef __x86_64__
static const struct {
	int i386, native;
} calls[] = {
	{I386_MOUNT, SYS_mount},
	{I386_UMOUNT, SYS_umount2},
	{I386_UMOUNT2, SYS_umount2},
	{I386_PIVOT_ROOT, SYS_pivot_root},
	{I386_MOVE_MOUNT, SYS_move_mount},
	{I386_FSCONFIG, SYS_fsconfig},
	{I386_SETNS, SYS_setns},
	{I386_OPEN_TREE, SYS_open_tree},
	{I386_OPEN_TREE_ATTR, SYS_open_tree},
};
#endif

int leat_filter_call(const struct seccomp_data *data)
{
#ifdef __x86_64__
	if (data->arch == AUDIT_ARCH_I386) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (calls[i].i386 == data->nr)
				return calls[i].native;
		return -1;
	}
#endif
	return data->nr == SYS_open_tree_attr ? SYS_open_tree : data->nr;
}
