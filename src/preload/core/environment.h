/* The variables that a program must hand on to its children for leat to see them. */
#ifndef LEAT_PRELOAD_CORE_ENVIRONMENT_H
#define LEAT_PRELOAD_CORE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

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

/* Is the entry of LD_PRELOAD of `size` bytes this very library? */
bool leat_environment_is_own(const char *entry, size_t size);

/* Entries, the closing NULL included, of `envp` completed with the kept
 * variables that it lacks; 0 if it lacks none. `envp` may be NULL.
 * Async-signal-safe. */
size_t leat_environment_size(char *const *envp);

/* What one program hands on to the next one only, by variables: */
enum leat_hand {
	LEAT_HAND_USER,       /* descriptors that lead another user to the daemon (user.c) */
	LEAT_HAND_OPEN,       /* descriptors of this process that may be of our files (adopt.c) */
	LEAT_HAND_CONFINED,   /* connect at once: later there may be no way (hooks/process.c) */
	LEAT_HAND_CALLED,     /* its name, if that is not its file's (hooks/exec.c) */
	LEAT_HAND_CONNECTION, /* the process's connection to the daemon (handed.c) */
	LEAT_HANDS,
};
/* The longest one, with its name and the 0; of others than the connection 64. */
#define LEAT_HAND_SIZE 384
#define LEAT_HANDED "LEAT_HANDED="
#define LEAT_OPEN "LEAT_OPEN="
#define LEAT_CONFINED "LEAT_CONFINED="
#define LEAT_CALLED "LEAT_CALLED="
#define LEAT_CONNECTION "LEAT_CONNECTION="
/* The next program's variable, with its name; "": none. */
void leat_environment_hand(enum leat_hand hand, const char *variable);

/* Complete `envp` in `into`, which has leat_environment_size entries. Strings
 * are borrowed; `buffer` receives LD_PRELOAD where this library is put before
 * others, or is alone since the variable was unset. 0, or -E2BIG if that does not fit.
 * Async-signal-safe. */
int leat_environment_complete(char *const *envp, char **into, char *buffer, size_t size);

#endif
