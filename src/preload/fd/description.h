/* Open file descriptions that descriptors with a kind refer to, and how many of them do.
 * What belongs to a description (its offset, the CLOSED of its last close) is given up
 * by exactly one of the threads that close its descriptors. Lock-free, async-signal-safe. */
#ifndef LEAT_PRELOAD_FD_DESCRIPTION_H
#define LEAT_PRELOAD_FD_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

/* A new one, of one descriptor, likely to be that of number `fd`. Never given twice; 0: there are
 * too many. */
uint64_t leat_description_new(int fd);
/* One more. False: it is gone. */
bool leat_description_hold(uint64_t id);
/* One less. True if that was the last. */
bool leat_description_drop(uint64_t id);

#endif
