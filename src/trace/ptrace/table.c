/* The calls that stop. Those of data come first: the filter looks at them in this order. */
#include "trace/ptrace/internal.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IO(name, how)                                                                              \
	{                                                                                          \
		.nr = SYS_##name, .enter = leat_ptrace_enter_io, .leave = leat_ptrace_leave_io,    \
		.detail = (how)                                                                    \
	}
#define CALL(name, what, how)                                                                      \
	{                                                                                          \
		.nr = SYS_##name, .enter = leat_ptrace_enter_##what,                               \
		.leave = leat_ptrace_leave_##what, .detail = (how)                                 \
	}
#define CALL_IF(name, what, number, bits, is)                                                      \
	{                                                                                          \
		.nr = SYS_##name, .enter = leat_ptrace_enter_##what,                               \
		.leave = leat_ptrace_leave_##what, .conditional = true, .arg = (number),           \
		.mask = (bits), .value = (is)                                                      \
	}
#define CLONE(name)                                                                                \
	{                                                                                          \
		.nr = SYS_##name, .enter = leat_ptrace_enter_clone, .apart = true                  \
	}
#define AFFINITY(name)                                                                             \
	{                                                                                          \
		.nr = SYS_##name, .enter = leat_ptrace_enter_affinity, .apart = true               \
	}
/* They change what names mean. */
#define VIEW(name, what)                                                                           \
	{                                                                                          \
		.nr = SYS_##name, .enter = leat_ptrace_enter_view,                                 \
		.leave = leat_ptrace_leave_##what                                                  \
	}
#define ALL 0xffffffffu
#define SEEK_UNLESS(number, is, half)                                                              \
	{                                                                                          \
		.nr = SYS_lseek, .enter = leat_ptrace_enter_seek, .leave = leat_ptrace_leave_seek, \
		.conditional = true, .differs = true, .above = (half), .arg = (number),            \
		.mask = ALL, .value = (is)                                                         \
	}

const struct call leat_ptrace_calls[] = {
	IO(read, IMPLICIT),
	IO(write, IMPLICIT | WRITES),
	IO(pread64, AT_OFFSET),
	IO(pwrite64, AT_OFFSET | WRITES),
	IO(readv, VECTOR),
	IO(writev, VECTOR | WRITES),
	IO(preadv, VECTOR_AT_OFFSET),
	IO(pwritev, VECTOR_AT_OFFSET | WRITES),
	IO(preadv2, VECTOR_WITH_FLAGS),
	IO(pwritev2, VECTOR_WITH_FLAGS | WRITES),
	/* but not those that only ask where the offset is: SEEK_CUR and nothing to add */
	SEEK_UNLESS(2, SEEK_CUR, false),
	SEEK_UNLESS(1, 0, false),
	SEEK_UNLESS(1, 0, true),
	CALL(openat, open, OPENAT),
	CALL(close, close, 0),
	CALL_IF(mmap, map, 3, MAP_ANONYMOUS, 0),
	CALL(openat2, open, OPENAT2),
	CALL(open_by_handle_at, open, BY_HANDLE),
	CALL(unlinkat, unlink, UNLINKAT),
	CALL(renameat2, rename, RENAMEAT),
	CALL(truncate, truncate, 0),
	CALL(ftruncate, ftruncate, 0),
	CALL(sendfile, copy, SENDFILE),
	CALL(copy_file_range, copy, COPY_RANGE),
	CALL(splice, copy, SPLICE),
	CALL(close_range, close_range, 0),
	CALL(dup, dup, DUP),
	CALL(dup3, dup, DUP3),
	CALL_IF(fcntl, fcntl, 1, ALL, F_DUPFD),
	CALL_IF(fcntl, fcntl, 1, ALL, F_DUPFD_CLOEXEC),
	CALL_IF(fcntl, fcntl, 1, ALL, F_SETFD),
	CALL_IF(fcntl, fcntl, 1, ALL, F_SETFL),
	CALL_IF(ioctl, ioctl, 1, ALL, FIOCLEX),
	CALL_IF(ioctl, ioctl, 1, ALL, FIONCLEX),
	CLONE(clone),
	CLONE(clone3),
	AFFINITY(sched_getaffinity),
	AFFINITY(sched_setaffinity),
	CALL_IF(unshare, unshare, 0, CLONE_FILES, CLONE_FILES),
	CALL_IF(unshare, unshare, 0, CLONE_NEWNS, CLONE_NEWNS),
	VIEW(setns, view),
	VIEW(chroot, view),
	VIEW(pivot_root, view),
	VIEW(mount, mount),
	VIEW(umount2, mount),
	VIEW(move_mount, mount),
	{.nr = SYS_io_uring_enter,
	 .apart = true,
	 .enter = leat_ptrace_enter_uring,
	 .leave = leat_ptrace_leave_unseen},
	{.nr = SYS_io_submit, .enter = leat_ptrace_enter_aio, .leave = leat_ptrace_leave_unseen},
#ifdef SYS_open /* what younger architectures have no more */
	CALL(open, open, OPEN),
	CALL(creat, open, CREAT),
	CALL(unlink, unlink, UNLINK),
	CALL(rename, rename, RENAME),
	CALL(dup2, dup, DUP2),
	CLONE(fork),
	CLONE(vfork),
#endif
#ifdef SYS_renameat
	CALL(renameat, rename, RENAMEAT),
#endif
};
const size_t leat_ptrace_n_calls = sizeof(leat_ptrace_calls) / sizeof(*leat_ptrace_calls);

const struct call *leat_ptrace_find_call(uint64_t nr)
{
	for (size_t i = 0; i < leat_ptrace_n_calls; i++)
		if ((uint64_t)leat_ptrace_calls[i].nr == nr)
			return &leat_ptrace_calls[i];
	return NULL;
}
