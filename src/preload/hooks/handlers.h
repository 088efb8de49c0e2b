/* All handlers: what is done about each system call. */
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
	long reported = first(c), result;

	if (reported > LEAT_TRY_LINK)
		return reported;
	result = leat_as_is(c);
	if (reported == LEAT_PASS || (reported == LEAT_TRY_ERROR && result >= 0))
		return result;
	return second(c, result);
}

/* Report (REFUSED) that the program's `call` is refused, and why; what remains is the same for
 * all. Returns -EPERM. */
long leat_hook_refuse(const char *call, const char *why);

/* The handlers, of which hooks.c has the table. */
#define HOOK_ANY(name) leat_handler leat_hook_##name;
#define HOOK_FD HOOK_ANY
#define HOOK_MOVES HOOK_ANY
#define HOOK_NUMBER HOOK_ANY
#define HOOK_HALVES(name)                                                                          \
	leat_first_half leat_hook_##name;                                                          \
	leat_second_half leat_hook_##name##_end;
#define HOOK_PASS(name)
#define HOOK_NONE(name)
#define ROW(nr, class, how, hook, recorded, trace) HOOK_##how(hook)
#include "preload/engine/calls.def"
#undef HOOK_ANY
#undef HOOK_FD
#undef HOOK_MOVES
#undef HOOK_NUMBER
#undef HOOK_HALVES
#undef HOOK_PASS
#undef HOOK_NONE

/* --- what they use of each other --- */

/* Seek in a directory: cookies of the daemon's listing. */
long leat_dir_seek(int fd, int64_t offset, int whence);
/* Wait as a listing of this directory would, so that its times are final: tar looks at them before
 * and after. Does nothing for other descriptors; what goes wrong shows at the listing. */
void leat_dir_settle(int fd);

/* Publish what a call that moved data by itself (sendfile, splice...) has written
 * to `fd`: it ends at `end`, or at the descriptor's offset for -1. */
void leat_publish_to(int fd, int64_t end, int64_t written);
/* If several steps write the file: the daemon is to know that these bytes are this one's. */
void leat_report_written(const struct leat_fd *r, uint64_t start, uint64_t length);

#endif
