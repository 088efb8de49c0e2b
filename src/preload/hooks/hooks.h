/* What becomes of a system call. Hooks return as the kernel does (-errno), never touch errno, never
 * allocate, and keep big buffers off the stack: the thread's scratch area (connection/client.h) is
 * used under a guard, with all signals blocked. */
#ifndef LEAT_PRELOAD_HOOKS_HOOKS_H
#define LEAT_PRELOAD_HOOKS_HOOKS_H

#include "preload/core/call.h"

#include <stdint.h>

/* What leat_hook_begin may say instead of a result. No call that reaches it has
 * such a result; all fit an instruction's immediate. */
#define LEAT_PASS INT32_MIN      /* the program makes the call itself */
#define LEAT_TRY (INT32_MIN + 1) /* make the call as it is now in `c`, then ask leat_hook_end */
#define LEAT_TRY_ERROR (INT32_MIN + 2) /* the same, but ask only if the call failed */
#define LEAT_TRY_LINK (INT32_MIN + 3)  /* newfstatat: ask if it found a symlink; else you may */

/* Returns as the kernel does (-errno) when the call was made
 * or refused, else one of the above: a call that is not ours is best made by who
 * asks, because frames to return from after a system call are dear. Of threads
 * and vfork children it is recorded before they are made: LEAT_PASS. */
long leat_hook_begin(struct leat_syscall *c);

/* After LEAT_TRY...: what the program is to see of `result`. */
long leat_hook_end(struct leat_syscall *c, long result);

/* A call in the program's name from start to end. */
static inline long leat_hook(long nr, long a, long b, long c, long d, long e, long f)
{
	struct leat_syscall call = {.nr = nr, .a = {a, b, c, d, e, f}};
	long result = leat_hook_begin(&call);

	if (result > LEAT_TRY_LINK)
		return result;
	nr = leat_as_is(&call);
	if (result == LEAT_PASS || (result == LEAT_TRY_ERROR && nr >= 0))
		return nr;
	return leat_hook_end(&call, nr);
}

/* In a fork child (own memory) before it runs on. */
void leat_fork_child(void);

/* The same in the parent of a vfork when it goes on: the child's number, or -errno. */
void leat_vfork_parent(long child);

/* Once, in the constructor, after patching: reads the environment, recognises inherited
 * descriptors. */
void leat_hooks_init(char **envp);

#endif
