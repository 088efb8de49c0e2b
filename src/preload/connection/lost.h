/* This process, or a thread of it, cannot speak with the daemon: its calls inside fail, and its
 * step must not end well, whatever becomes of it. */
#ifndef LEAT_PRELOAD_CONNECTION_LOST_H
#define LEAT_PRELOAD_CONNECTION_LOST_H

#include "wire/wire.h"

#include <stdbool.h>

/* Say so on standard error and report it to the daemon, the first time; if nothing can be reported
 * the process ends. Returns -EIO. Any time, without a guard or under one, async-signal-safe. */
int leat_lost(enum leat_lost cause);

/* Was there any? */
bool leat_lost_any(void);

/* What a system call's -errno says of it. */
enum leat_lost leat_lost_cause(long error);

/* The program must not run at all: report that, and end it. Init only. */
void leat_lost_end(enum leat_lost cause) __attribute__((noreturn));

#endif
