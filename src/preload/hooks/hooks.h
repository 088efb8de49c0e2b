/* What the hooks share: the shape of a call, the real calls underneath, and the
 * order of things in a path call. Private to src/preload.
 *
 * Hooks return as the kernel does (-errno), never touch errno, never allocate,
 * and keep big buffers off the stack: the thread's scratch area (client.h) is
 * used under a guard, with all signals blocked. */
#ifndef LEAT_PRELOAD_HOOKS_HOOKS_H
#define LEAT_PRELOAD_HOOKS_HOOKS_H

#include "preload/connection/client.h"
#include "preload/core/engine.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

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

#define LEAT_RAW7(nr, a, b, c, d, e, f, ...)                                                       \
	leat_raw((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* raw(SYS_x, arguments...): the real call, missing arguments are 0. */
#define raw(...) LEAT_RAW7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

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

/* About what others need who change a file's size or offset, or write a little. */
enum { LEAT_NAP_NS = 20000 };

/* Sleep so long (below a second), or until a signal is handled. */
static inline void leat_nap(uint64_t ns)
{
	const struct timespec t = {.tv_nsec = (long)ns};

	raw(SYS_nanosleep, &t, NULL);
}

/* --- a call on a path, path/resolve.c --- */

enum { LEAT_OUTSIDE = 1 };

/* What is to be done with which path. */
struct leat_target {
	uint32_t op; /* enum leat_op */
	int dirfd;
	const char *path;
	uint32_t flags;
	uint32_t mode;
	uint64_t length;
	bool follow; /* `path` is outside, but its last component is a symlink: follow it */
};

/* Where the daemon says it is. */
struct leat_site {
	struct leat_guard guard;
	int dirfd; /* make the call on (dirfd, path) */
	const char *path;
	uint32_t place; /* enum leat_place */
	uint32_t kind;  /* enum leat_kind */
	uint32_t slot;
	uint32_t flags;
	uint32_t file_home; /* of the shared record */
	uint64_t ofd;
	bool input;      /* the step is a consumer of it */
	bool intact;     /* the open has changed nothing */
	uint64_t common; /* if `lasting`: the counters as they were before */
	uint32_t changes;
	bool lasting; /* the answer may be remembered (path/resolve_cache.h) */
};

/* Bring a path call to the daemon and wait as long as it says. Returns
 * LEAT_OUTSIDE: not ours, make the call as it is; 0: make it on the site, all
 * signals are blocked until leat_site_leave; -errno: fail it so. */
int leat_site_enter(struct leat_site *site, const struct leat_target *target);

/* The call ended with `rc`: was it that the file has been moved since the site was entered? Then
 * leat_site_enter_again and make it again, for as often as LEAT_MAX_MOVES: a file that moves
 * each time it is looked at is none. */
#define LEAT_MAX_MOVES 100u
static inline bool leat_site_has_moved(const struct leat_site *site, long rc)
{
	return rc == -ENOENT && site->slot;
}
/* 0, or -errno and the site is left. */
int leat_site_enter_again(struct leat_site *site, const struct leat_target *target);

/* The end of a call that changes nothing. */
void leat_site_leave(struct leat_site *site);
/* The end of an open or a change: if it failed (rc < 0) the daemon is told. Returns
 * rc. */
long leat_site_result(struct leat_site *site, long rc);
/* The end of a change of what stat shows (LEAT_OP_META, LEAT_OP_TRUNCATE): as leat_site_result, and
 * whoever remembers it looks again. */
long leat_site_changed(struct leat_site *site, long rc);
/* The end of mkdir, mknod and symlink: the daemon is told at once that the name is
 * there (or not), so that nobody is woken for a name that is still to come. */
long leat_site_made(struct leat_site *site, long rc);

/* The answer is good for later calls as well: remember it, and what stat shows of the file
 * if `st` is not NULL. Does nothing if it is not. */
void leat_site_remember(const struct leat_site *site, const struct stat *st);

/* The site as one string, for system calls that take no directory descriptor.
 * Lives in the thread's scratch area until the site is left. */
const char *leat_site_via(struct leat_site *site);

#endif
