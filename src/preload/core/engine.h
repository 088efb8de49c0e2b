/* The two halves of the interception library meet here.
 *
 * The engine (patch_x86_64.c, clone, exec guard, symbol wrappers) brings every
 * file system call of libc and ld.so to leat_hook; the hooks (hook_*.c) decide
 * what becomes of it. Nothing here may allocate, lock, call dlsym or touch
 * errno: hooks run in signal handlers, after vfork, before main. */
#ifndef LEAT_PRELOAD_CORE_ENGINE_H
#define LEAT_PRELOAD_CORE_ENGINE_H

#include "shm/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAT_MAX_FD 65536

/* One byte a descriptor: 0 = not ours. The engine's stubs test it before they
 * save a single register, so calls on other descriptors cost a few ns.
 * Defined by the hooks; values are enum leat_kind (wire/wire.h) + 1. */
extern uint8_t leat_fd_mark[LEAT_MAX_FD];

/* 0 until hooks are ready; the stubs of path calls test it first, so that a
 * program outside any workflow runs as if leat were not there. */
enum { LEAT_ACTIVE = 1, LEAT_ACTIVE_LIMITED = 2 /* what it moves is held to a rate */ };
extern uint8_t leat_active;

/* A system call: number and arguments as the kernel takes them. */
struct leat_syscall {
	long nr;
	long a[6];
};

/* What leat_hook_begin may say instead of a result. No call that reaches it has
 * such a result; all fit an instruction's immediate. */
#define LEAT_PASS INT32_MIN      /* the program makes the call itself */
#define LEAT_TRY (INT32_MIN + 1) /* make the call as it is now in `c`, then ask leat_hook_end */
#define LEAT_TRY_ERROR (INT32_MIN + 2) /* the same, but ask only if the call failed */
#define LEAT_TRY_LINK (INT32_MIN + 3)  /* newfstatat: ask if it found a symlink; else you may */

/* Defined by the hooks. Returns as the kernel does (-errno) when the call was made
 * or refused, else one of the above: a call that is not ours is best made by the
 * engine, because frames to return from after a system call are dear. Of threads
 * and vfork children it is told before they are made: LEAT_PASS. */
long leat_hook_begin(struct leat_syscall *c);

/* Defined by the hooks. After LEAT_TRY...: what the program is to see of `result`. */
long leat_hook_end(struct leat_syscall *c, long result);

/* The real system call, never intercepted. Defined by the engine. */
long leat_raw(long nr, long a, long b, long c, long d, long e, long f);

/* The call as the program made it. */
static inline long leat_as_is(const struct leat_syscall *c)
{
	return leat_raw(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

/* A call in the program's name from start to end. */
static inline long leat_hook(long nr, long a, long b, long c, long d, long e, long f)
{
	struct leat_syscall call = {.nr = nr, .a = {a, b, c, d, e, f}};
	long result = leat_hook_begin(&call);

	if (result > LEAT_TRY_LINK)
		return result;
	nr = leat_raw(call.nr, call.a[0], call.a[1], call.a[2], call.a[3], call.a[4], call.a[5]);
	if (result == LEAT_PASS || (result == LEAT_TRY_ERROR && nr >= 0))
		return nr;
	return leat_hook_end(&call, nr);
}

/* The same in a traced process, around what the hooks do; trace.h. */
struct leat_traced;
long leat_trace_begin(struct leat_traced *t);
long leat_trace_end(struct leat_traced *t, long result);

/* The variable that leads to the tape. */
#define LEAT_TRACE_VARIABLE "LEAT_TAPE"
/* Set, and not empty: nothing else is to be done, whatever workflow the process belongs to. */
#define LEAT_TRACE_ONLY "LEAT_TAPE_ONLY"
/* 1 while calls of this process are recorded: the stubs test it in place of leat_active. */
extern uint8_t leat_tracing;
/* Is this process to be traced? Maps the tape. In the constructor, before libc is patched. */
bool leat_trace_find(char **envp);
/* Say what program this is, and record from now on; not `is_patched`: its calls cannot be seen. */
void leat_trace_start(char **envp, bool is_patched);
/* Before a fork, with its number; and in the parent after one that failed, with -errno. */
void leat_trace_forking(long nr);
/* In a fork child. */
void leat_trace_forked(void);

/* Forks of this process so far. Counted by the engine, before each. */
extern struct leat_word leat_forks;

/* True in a vfork or posix_spawn child that still shares its parent's memory:
 * descriptor tables must not be changed. Defined by the engine (TLS flag set
 * by the patched clone and vfork sites). */
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

/* Where the function of libc that made the call of a hook returns to; 0: not known, it has no frame
 * that is known. True of functions that do nothing else before, like fstat, and of syscall. Defined
 * by the engine. */
uintptr_t leat_caller(const struct leat_syscall *c);

/* Map a file as code (mmap with PROT_EXEC) and see to the system calls in it. As the kernel;
 * -ENOEXEC: it makes calls that would not be seen. Defined by the engine. */
long leat_code_map(const struct leat_syscall *c);
#define LEAT_UNSEEN_LIBRARY                                                                        \
	"it makes system calls of its own; a program that loads it may be run behind a mount "     \
	"(LEAT_INTERCEPT=mount in its environment)"

/* Called by the engine in a fork child (own memory) before it runs on. Defined
 * by the hooks. */
void leat_fork_child(void);

/* Called once by the engine's constructor after patching. Defined by the hooks:
 * reads the environment, recognises inherited descriptors. */
void leat_hooks_init(char **envp);

/* Run `path` (already resolved by the hooks, absolute or relative to `dirfd`):
 * puts LD_PRELOAD and the LEAT_ variables back into `envp` if the program
 * dropped them, then execve/execveat. Programs that cannot be intercepted
 * (static, Go, setuid) get a mount; where there is none they are refused with
 * -EACCES after telling `refused`. Returns only on failure. Defined by the
 * engine (exec.c). */
long leat_exec(int dirfd, const char *path, char *const argv[], char *const envp[], int flags);

/* The program is about to be replaced. `variable` is to be in the environment of a next program
 * that loads this library; it may be left empty. Defined by the hooks. */
void leat_before_exec(char *variable, size_t size);

/* The next program could not find its way to the daemon by itself: leave open what leads
 * there. True: `variable` is to be in its environment. Defined by the hooks. */
bool leat_hand_over(char *variable, size_t size);
/* There is no next program. */
void leat_hand_over_failed(void);

/* Run a program with its files behind a mount, by the command LEAT_MOUNT names. Returns
 * only on failure; -EACCES: there is no mount here. Defined by the engine (exec/mount.c). */
/* Does somebody ask for it by name, to run its third argument? */
bool leat_exec_is_mount(const char *path, char *const argv[]);
long leat_exec_mounted(int dirfd, const char *path, char *const argv[], char *const envp[],
		       int flags);

/* The name of a program to be run behind a mount, as it is seen there, into `out`
 * (PATH_MAX bytes). 0 or -errno. Defined by the hooks. */
long leat_exec_name(int dirfd, const char *path, int flags, char *out);

/* What the kernel finds by a path, beside what the program does. */
enum leat_sight { LEAT_SIGHT_NOTHING, LEAT_SIGHT_SAME, LEAT_SIGHT_OTHER };
/* Waits for a file that is awaited; one that is not there only if `waits`, or if an output spells
 * its name out. `path` may be a name of the kernel's for what is in the store, if there is `room`
 * (PATH_MAX bytes). Defined by the hooks. */
enum leat_sight leat_exec_look(const char *path, bool waits, char *room);
/* Is it in the workflow's directory? The same of `room`. Defined by the hooks. */
bool leat_exec_is_inside(const char *path, char *room);

/* Is this process somewhere from where programs may lose sight of the daemon? Defined by the hooks.
 */
bool leat_exec_confined(void);

/* Could a program that is started now reach the workflow's directory and the session's? Where it
 * could not it would run unseen. Defined by the hooks. */
bool leat_exec_in_sight(void);

/* Tell the daemon why an exec was refused; `fatal`: the step cannot end well any more. Defined by
 * the hooks. */
void leat_exec_refused(const char *program, const char *why, bool fatal);

#endif
