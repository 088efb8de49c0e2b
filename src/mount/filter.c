/* The kernel moves bytes of a FUSE file by sendfile and its kind out of its page cache, and takes
 * the size it was last told for the end: of a file that grows that would be a false end. So it does
 * with reads by io_uring and kernel AIO. Behind the mount these calls are refused as by a kernel
 * without them, and programs read and write instead; from sendfile by EINVAL, since of ENOSYS Java
 * and libuv (Node.js) make an error.
 *
 * Some mounts, and entering namespaces, are the server's to allow (bypass.c).
 */
#include "mount/filter.h"

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
/* If it is this call: refuse it with that error. */
#define REFUSE(call, error)                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* If it is this call, with such an argument (its lower half): ask the server. */
#define ASK(call, argument, mask, value)                                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 5), LOAD(args[argument]),                   \
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (mask)),                                       \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1),                                \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF), ALLOW
#define IF_ARCH(arch, instructions) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (arch), 0, (instructions))

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static const struct sock_filter program[] = {
	LOAD(arch),
#ifdef NATIVE
	IF_ARCH(NATIVE, 30),
	LOAD(nr),
	REFUSE(SYS_io_uring_setup, ENOSYS),
	REFUSE(SYS_io_setup, ENOSYS),
	REFUSE(SYS_sendfile, EINVAL),
	REFUSE(SYS_splice, EINVAL),
	REFUSE(SYS_copy_file_range, ENOSYS),
	ASK(SYS_mount, 3, MS_BIND | MS_REC | MS_REMOUNT, MS_BIND),
	ASK(SYS_open_tree, 2, OPEN_TREE_CLONE | AT_RECURSIVE, OPEN_TREE_CLONE),
	ASK(SYS_setns, 1, 0, 0),
	ALLOW,
#endif
#ifdef __x86_64__ /* 32-bit programs: io_uring_setup, io_setup, sendfile, sendfile64, splice,      \
		     copy_file_range */
	IF_ARCH(AUDIT_ARCH_I386, 14),
	LOAD(nr),
	REFUSE(425, ENOSYS),
	REFUSE(245, ENOSYS),
	REFUSE(187, EINVAL),
	REFUSE(239, EINVAL),
	REFUSE(313, EINVAL),
	REFUSE(377, ENOSYS),
	ALLOW,
#endif
	ALLOW,
};

static int install(int *listener)
{
	const struct sock_fprog filter = {.len = sizeof(program) / sizeof(*program),
					  .filter = (struct sock_filter *)(uintptr_t)program};
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			  &filter);

	*listener = (int)fd;
	if (fd < 0 && errno == EBUSY)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
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
