/* Who asks for the size of a file that still grows. */
#ifndef LEAT_PRELOAD_HOOKS_ASKER_H
#define LEAT_PRELOAD_HOOKS_ASKER_H

#include "preload/core/call.h"
#include "client/sizes.h"

/* How often the code that calls the function of libc that makes the call may be shown a size that
 * is not the last. The first time that a place in the program asks costs some system calls.
 * Async-signal-safe. */
struct leat_size_looks leat_asker_looks(const struct leat_syscall *c);

#endif
