/* This process's part in the roll (shm/roll.h): saying that it is followed, whom it starts, that it
 * ends, and how its children have ended. Async-signal-safe, also in vfork children. */
#ifndef LEAT_PRELOAD_CONNECTION_ROLL_CALL_H
#define LEAT_PRELOAD_CONNECTION_ROLL_CALL_H

#include "shm/roll.h"

#include <stdbool.h>
#include <sys/types.h>

/* Map the roll, and say so. Where there is none (no run, another user who cannot reach it) all
 * below does nothing. Init only. */
void leat_roll_call_begin(uint32_t pid);

/* It cannot take part in its run: what it is now counts as not followed. */
void leat_roll_call_stray(void);

/* It is about to become `program`, which is expected to say that it is followed; NULL: which does
 * not load this library, and is seen in another way. `before`: for leat_roll_call_failed. */
void leat_roll_call_exec(const char *program, struct leat_roll_entry *before);
/* It did not. */
void leat_roll_call_failed(const struct leat_roll_entry *before);

/* In a fork child. */
void leat_roll_call_forked(void);

/* In the parent of a vfork that goes on: by now `child` (or -errno) is a program of its own, or has
 * ended. */
void leat_roll_call_vforked(long child);

/* It ends in a way that is known; also in a vfork child. */
void leat_roll_call_exit(void);

/* Is there a roll, or is it the daemon's to keep for this process? */
bool leat_roll_call_is_taken(void);
/* A child has ended, as waitpid says it; only then. */
void leat_roll_call_ended(pid_t pid, int status);

#endif
