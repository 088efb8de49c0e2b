/* What this library takes of a process's limits, and what the program has not because of it. */
#ifndef LEAT_PRELOAD_CONNECTION_STARVED_H
#define LEAT_PRELOAD_CONNECTION_STARVED_H

#include <stdint.h>

#include "shm/state.h"

/* Of its address space: the segment, this library with its tables, and libc. */
#define LEAT_OWN_SPACE (sizeof(struct leat_shm) + (UINT64_C(32) << 20))
/* Of that what is private and may be written. */
#define LEAT_OWN_DATA (UINT64_C(24) << 20)

/* A mapping of so many bytes was, or is to be, refused for want of memory: if that is because this
 * library takes a part of the limit (RLIMIT_AS, RLIMIT_DATA) the step has failed, and why is
 * reported.
 */
void leat_note_refused(int resource, uint64_t length);

#endif
