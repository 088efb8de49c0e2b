/* What the files of the engine share among themselves; the hooks need engine.h only. */
#ifndef LEAT_PRELOAD_CORE_INTERCEPT_H
#define LEAT_PRELOAD_CORE_INTERCEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a call of libc is routed. Bits 0-3: the argument that is a descriptor;
 * only calls on marked descriptors reach the hook. */
enum leat_call_class {
	LEAT_CALL_FD1 = 1 << 0,
	LEAT_CALL_FD2 = 1 << 1,
	LEAT_CALL_FD3 = 1 << 2,
	LEAT_CALL_FD5 = 1 << 3,
	LEAT_CALL_PATH = 1 << 4,  /* reaches the hook whenever leat_active is set */
	LEAT_CALL_CLONE = 1 << 5, /* makes a process or a thread: seen by the engine */
	LEAT_CALL_EXIT = 1 << 6,  /* as PATH; libc keeps its number in another register */
	LEAT_CALL_CODE = 1 << 7,  /* mmap: also reaches the hook if it maps a file as code */
};

#define LEAT_CALLS 512

/* Class of each system call number of this architecture, 0 = none of ours. */
extern const uint8_t leat_call_class[LEAT_CALLS];

/* From a call that leat_enter has saved to where the program's stack was, in bytes: enter_x86_64.S.
 */
#define LEAT_ENTER_STACK 200

/* What keeps a process from being seen: one of the two, or none. */
struct leat_unseen {
	const char *function; /* of libc: it does not arrive */
	const char *file;     /* of the program or a library: it makes calls that cannot be read */
};

/* Redirect the system calls of libc, the dynamic loader and other libraries to leat_hook. What was
 * found is kept in the directory `kept_in` for later processes; NULL: not. Only in the constructor,
 * while there is one thread. 0, or -errno with libc unchanged: -ENOSYS on other architectures,
 * -ENOENT without glibc, -EACCES and others where text may not be written; -ENOEXEC: there would be
 * calls that are not seen, see *unseen. */
int leat_patch_libc(const char *kept_in, struct leat_unseen *unseen);

/* Number of vfork calls this thread is inside of; see leat_in_vfork. */
extern _Thread_local int leat_vfork_depth __attribute__((tls_model("initial-exec")));

/* Before a fork, with the number of its call; in the parent also after one that failed, with
 * -errno. Async-signal-safe. */
void leat_engine_forking(long nr);

/* The child of a fork, before it returns to libc. Async-signal-safe. */
void leat_engine_forked(void);

/* Why the next program could not load this library, or not reach the daemon, into `why`; NULL: it
 * can, as far as is known. Async-signal-safe. */
const char *leat_exec_unfit(char *why, size_t size);

/* Is there a library which the loader of the next program, in `fd`, looking at the disk, would miss
 * or take another file for? Its path, or what fits, into `out`. It may be named by LD_PRELOAD or
 * LD_AUDIT in `envp`, or be one that the program is linked with. Asks the daemon only about names
 * inside. Async-signal-safe. */
bool leat_exec_hidden_library(int fd, char *const envp[], char *out, size_t size);

/* ---- exec/search.c ---- */

/* What the loader would be told. */
struct leat_loader_orders {
	const char *preload, *audit, *path; /* LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH; NULL: unset */
};

/* The same of libraries that are found by a search. */
bool leat_exec_search(int fd, const struct leat_loader_orders *orders, char *out, size_t size);

/* Remember LD_PRELOAD, LEAT_* and CAPIO_* for leat_exec. Called once. */
void leat_environment_keep(char **envp);

/* True if `envp` belongs to a run of leat or CAPIO at all. */
bool leat_environment_has_session(char **envp);

/* Value of `name` in `envp`, NULL if unset. Borrowed. */
const char *leat_environment_get(char **envp, const char *name);

/* The value that leat_environment_keep found of `name` (LEAT_..., CAPIO_...), NULL if it
 * was unset. Borrowed. Async-signal-safe. */
const char *leat_environment_kept(const char *name);

/* Where the value of LD_PRELOAD names this library, or NULL; its length. */
const char *leat_environment_library(const char *list, size_t *size);

/* Entries, the closing NULL included, of `envp` completed with the kept
 * variables that it lacks; 0 if it lacks none. `envp` may be NULL.
 * Async-signal-safe. */
size_t leat_environment_room(char *const *envp);

/* What one program hands on to the next one only, by variables: */
enum leat_hand {
	LEAT_HAND_USER,     /* descriptors that lead another user to the daemon (user.c) */
	LEAT_HAND_OPEN,     /* descriptors of this process that may be of our files (adopt.c) */
	LEAT_HAND_CONFINED, /* connect at once: later there may be no way (hooks/process.c) */
	LEAT_HAND_CALLED,   /* its name, if that is not its file's (hooks/exec.c) */
	LEAT_HANDS,
};
#define LEAT_HANDED "LEAT_HANDED="
#define LEAT_OPEN "LEAT_OPEN="
#define LEAT_CONFINED "LEAT_CONFINED="
#define LEAT_CALLED "LEAT_CALLED="
/* The next program's variable, with its name; "": none. */
void leat_environment_hand(enum leat_hand hand, const char *variable);

/* Complete `envp` in `into`, which has leat_environment_room entries. Strings
 * are borrowed; `buffer` receives LD_PRELOAD where this library is put before
 * others, or is alone since the variable was unset. 0, or -E2BIG if that does not fit.
 * Async-signal-safe. */
int leat_environment_complete(char *const *envp, char **into, char *buffer, size_t size);

/* Is this the library with the wrappers (libleat-wrap.so)? */
extern const bool leat_has_wrappers;

/* Start this program anew with libleat-wrap.so in place of this library.
 * Returns only on failure: -errno. */
int leat_reexec_with_wrappers(char **envp);

/* Start this program anew with the variables. Returns only on failure: -errno. */
int leat_reexec(char **envp);

/* Start this program anew if it has a library that refuses to be loaded after this one, as the run
 * time of AddressSanitizer does. */
void leat_put_first(char **envp);

/* Has this program, or a library that it was started with, a sanitizer's run time, which makes
 * system calls of its own? Known once leat_put_first was called. */
bool leat_has_sanitizer(void);

/* Was this program started by leat itself? What was put by for it has its names again in `envp`;
 * `was_put_by`: there was something. */
bool leat_reexec_take_begun(char **envp, bool *was_put_by);

/* Start this program, which was, anew if the loader has not loaded what it was to load. Returns if
 * it has; else only on failure, with -errno. Once the hooks are there. */
int leat_reexec_begun(char **envp, bool was_put_by);

/* Start this program anew with its files behind a mount. Returns only on failure. */
void leat_reexec_mounted(char **envp);

/* Switch the wrappers on (libleat-wrap.so only). */
void leat_wrappers_start(void);

#endif
