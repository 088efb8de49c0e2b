/* Starting another program. */
#ifndef LEAT_PRELOAD_EXEC_EXEC_H
#define LEAT_PRELOAD_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>

/* Run `path` (already resolved, absolute or relative to `dirfd`):
 * puts LD_PRELOAD and the LEAT_ variables back into `envp` if the program
 * dropped them, then execve/execveat. Programs that cannot be intercepted
 * (static, Go, setuid) get a mount; where there is none they are refused with
 * -EACCES after a REFUSED to the daemon. Returns only on failure. */
long leat_exec(int dirfd, const char *path, char *const argv[], char *const envp[], int flags);

/* --- mount.c --- */

/* Does somebody ask for a mount by its command's name, to run its third argument? */
bool leat_exec_is_mount(const char *path, char *const argv[]);
/* Run a program with its files behind a mount, by the command LEAT_MOUNT names. Returns
 * only on failure; -EACCES: there is no mount here. */
long leat_exec_mounted(int dirfd, const char *path, char *const argv[], char *const envp[],
		       int flags);

/* --- fit.c --- */

/* Why the next program could not load this library, or not reach the daemon, into `why`; NULL: it
 * can, as far as is known. Async-signal-safe. */
const char *leat_exec_unfit(char *why, size_t size);

/* --- library.c --- */

/* Is there a library which the loader of the next program, in `fd`, looking at the disk, would miss
 * or take another file for? Its path, or what fits, into `out`. It may be named by LD_PRELOAD or
 * LD_AUDIT in `envp`, or be one that the program is linked with. Asks the daemon only about names
 * inside. Async-signal-safe. */
bool leat_exec_hidden_library(int fd, char *const envp[], char *out, size_t size);

/* --- search.c --- */

/* What the loader would get as its arguments. */
struct leat_loader_orders {
	const char *preload, *audit, *path; /* LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH; NULL: unset */
};

/* The same of libraries that are found by a search. */
bool leat_exec_search(int fd, const struct leat_loader_orders *orders, char *out, size_t size);

#endif
