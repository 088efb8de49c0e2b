/* What the kernel does for --enforce and --sealed: processes of a step cannot reach into others
 * (trace them, take their descriptors or memory, look through their /proc), whoever their user is.
 * See landlock(7). All functions: any process with one thread. */
#ifndef LEAT_BASE_CONFINE_H
#define LEAT_BASE_CONFINE_H

#include <stdbool.h>

/* 32 hexadecimal digits and a 0. */
enum { LEAT_KEY_SIZE = 33 };

/* Does this kernel offer it? */
bool leat_confine_possible(void);

/* From here on this process and all it starts are apart from the others, and cannot send them
 * signals; an ordinary user's programs do not gain rights any more by being set-id. Mounts can
 * still be made. 0 or -errno. Async-signal-safe. */
int leat_confine_enter(void);

/* Does this kernel offer what follows? It takes less. */
bool leat_confine_can_seal(void);

/* The same but for signals; and from here on nothing can be mounted or unmounted any more. 0 or
 * -errno. Async-signal-safe. */
int leat_confine_seal(void);

/* A key nobody can guess (docs/howto/enforce.md). 0 or -errno. */
int leat_confine_key(char key[LEAT_KEY_SIZE]);

#endif
