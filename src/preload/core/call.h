/* System calls: as the program makes them, and the kernel's own. Nothing in this library may touch
 * errno: it runs in signal handlers, after vfork, before main. */
#ifndef LEAT_PRELOAD_CORE_CALL_H
#define LEAT_PRELOAD_CORE_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* A system call: number and arguments as the kernel takes them. */
struct leat_syscall {
	long nr;
	long a[6];
};

/* The real system call, never intercepted. */
long leat_raw(long nr, long a, long b, long c, long d, long e, long f);

#define LEAT_RAW7(nr, a, b, c, d, e, f, ...)                                                       \
	leat_raw((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* raw(SYS_x, arguments...): the real call, missing arguments are 0. */
#define raw(...) LEAT_RAW7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* The call as the program made it. */
static inline long leat_as_is(const struct leat_syscall *c)
{
	return leat_raw(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

/* Between the two no handler of a signal runs in this thread. */
static inline void leat_block_signals(uint64_t *mask)
{
	static const uint64_t all = ~UINT64_C(0);

	raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, sizeof(all));
}

static inline void leat_restore_signals(const uint64_t *mask)
{
	raw(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
}

#endif
