/* What the kernel does for leat run --enforce: processes of a step cannot reach into others (trace
 * them, take their descriptors or memory, look through their /proc, send them signals), whoever
 * their user is. See landlock(7). */
#ifndef LEAT_DRIVER_CONFINE_H
#define LEAT_DRIVER_CONFINE_H

#include <stdbool.h>

/* 32 hexadecimal digits and a 0. */
enum { LEAT_KEY_SIZE = 33 };

/* Does this kernel offer it? */
bool leat_confine_possible(void);

/* From here on this process and all it starts are apart from the others; an ordinary user's
 * programs do not gain rights any more by being set-id. 0 or -errno. Async-signal-safe. */
int leat_confine_enter(void);

/* A key nobody can guess (docs/enforce.md). 0 or -errno. */
int leat_confine_key(char key[LEAT_KEY_SIZE]);

#endif
