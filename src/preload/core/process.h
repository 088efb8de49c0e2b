/* What this process is: words that the stubs test, or that layers on all floors go by. */
#ifndef LEAT_PRELOAD_CORE_PROCESS_H
#define LEAT_PRELOAD_CORE_PROCESS_H

#include "shm/word.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 until hooks are ready; the stubs of path calls test it first, so that a
 * program outside any workflow runs as if leat were not there. */
enum { LEAT_ACTIVE = 1, LEAT_ACTIVE_LIMITED = 2 /* what it moves is held to a rate */ };
extern uint8_t leat_active;

/* 1 while calls of this process are recorded: the stubs test it in place of leat_active. */
extern uint8_t leat_tracing;

/* What the kernel has said of the program (getauxval(3), whose page of libc would be touched for
 * it). Before leat_process_begin libc is asked. */
unsigned long leat_auxval(unsigned long type);
/* Once, in the constructor, with the environment as the kernel has laid it out. */
void leat_process_begin(char **envp);

/* Is this the library with the wrappers (libleat-wrap.so)? */
extern const bool leat_has_wrappers;

/* Has this program, or a library that it was started with, a sanitizer's run time, which makes
 * system calls of its own? Known once leat_put_first was called. */
extern bool leat_has_sanitizer;

/* Forks of this process so far. Counted before each. */
extern struct leat_word leat_forks;

/* Number of vfork calls this thread is inside of. The stubs of clone and vfork count. */
extern _Thread_local int leat_vfork_depth __attribute__((tls_model("initial-exec")));

/* True in a vfork or posix_spawn child that still shares its parent's memory:
 * descriptor tables must not be changed. */
bool leat_in_vfork(void);

/* In a call that glibc (since 2.41) lets a thread be cancelled in: what says whether it is to be.
 */
extern _Thread_local const uint32_t *leat_cancel_word __attribute__((tls_model("initial-exec")));

/* Is the thread to end, and this call to fail with -EINTR for that? Hooks that wait ask after each
 * signal. With older versions a signal handler ends the thread wherever it is. */
static inline bool leat_cancel_is_due(void)
{
	enum { DISABLED = 0x1, CANCELLED = 0x8 };
	const volatile uint32_t *word = leat_cancel_word;

	return word && (*word & (DISABLED | CANCELLED)) == CANCELLED;
}

#endif
