/* The connection of a process, handed from one program to the next that it becomes: most programs
 * that a shell starts have a file of the workflow open because the shell's child has just opened
 * it, and so has a connection. It is named in LEAT_CONNECTION, with what the daemon has said. */
#ifndef LEAT_PRELOAD_CONNECTION_HANDED_H
#define LEAT_PRELOAD_CONNECTION_HANDED_H

#include "preload/connection/client.h"

#include <stdbool.h>
#include <stddef.h>

/* --- init only --- */

/* See whether the program before this one in process `pid` has handed one on. True: its descriptors
 * are hidden, and the first thread that is to connect has it. */
bool leat_handed_find(char **envp, uint32_t pid);

/* --- any time; async-signal-safe --- */

/* The thread's connection is the one that was handed on. False: there is none any more. Under a
 * guard. */
bool leat_handed_take(struct leat_thread *t);

/* How the kernel calls the store, as far as the daemon or the program before has said; NULL:
 * neither has. */
const char *leat_handed_store(void);

/* Process `pid` ends normally: if nobody has taken the connection, say so on it, if the daemon is
 * still there. False: there is none. */
bool leat_handed_exiting(uint32_t pid, int status);

/* A fork child: it is the parent's. */
void leat_handed_forget(void);

/* Where the number of such a descriptor is kept, or NULL if `fd` is none. */
int *leat_handed_holder(int fd);

/* The program is about to be replaced by one that loads this library: leave open what leads to the
 * daemon, or say at least how the store is called. True: `variable` (LEAT_HAND_SIZE bytes) is to be
 * in its environment. */
bool leat_handed_over(char *variable, size_t size);
/* There is no next program. */
void leat_handed_failed(void);

#endif
