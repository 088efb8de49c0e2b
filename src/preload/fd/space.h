/* Writes to files whose place is full. Without a guard. */
#ifndef LEAT_PRELOAD_FD_SPACE_H
#define LEAT_PRELOAD_FD_SPACE_H

#include "preload/fd/table.h"
#include "preload/core/call.h"

/* What one call has done so far to have space made. All 0 at first. */
struct leat_space {
	uint64_t attempt; /* requests to the daemon */
	uint64_t dropped; /* of a file that is not retained, when it was looked at last */
	uint32_t sleeps;  /* since that changed */
};

/* A write of `length` bytes to `fd` failed with ENOSPC: have space made, waiting as long
 * as it takes. False: there is none. Not between leat_shm_writing and leat_shm_written. */
bool leat_space_make(int fd, uint64_t length, struct leat_space *space);

/* Before `length` bytes are written to `fd`: is the budget for files used up, although the store
 * itself has space? The daemon is asked now and then; not between leat_shm_writing and
 * leat_shm_written. */
bool leat_space_is_over_budget(int fd, uint64_t length);

/* The call as the program made it, again as long as space can be made on `fd` for the
 * `length` bytes it writes, with the file held where it is. */
long leat_space_retry(const struct leat_syscall *c, int fd, uint64_t length);

/* Before a write of `length` bytes at the common offset, or the end, of several writers: when
 * memory is nearly full have it set aside, because the second half of a short write could land
 * behind what another writes. 0, or -ENOSPC: there is none. */
int leat_space_set_aside(int fd, const struct leat_fd *r, uint64_t length);

/* Before `length` bytes of a file are mapped: a page of a hole that is touched when memory is full
 * kills the program, so that a file with larger holes than there is space has space made, or goes
 * to disk. */
void leat_space_to_map(int fd, uint64_t length);

/* A write of `wanted` bytes to `fd` had a short count: for want of space? There may be some again
 * by now. False only where a limit of the size of files could have made it short. */
bool leat_space_was_full(int fd, uint64_t wanted);

#endif
