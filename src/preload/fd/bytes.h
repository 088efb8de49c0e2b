/* Which bytes of a file that still grows may be read, and waiting for them. Without a guard. */
#ifndef LEAT_PRELOAD_FD_BYTES_H
#define LEAT_PRELOAD_FD_BYTES_H

#include "preload/fd/table.h"

#include <stdbool.h>
#include <stdint.h>

/* Wait until [offset, offset+length) of the file behind `fd` can be read, or it is final: then
 * *final is set. 0 or -EIO. */
int leat_wait_covered(int fd, uint32_t slot, uint64_t offset, uint64_t length, bool *final);

/* A consumer's descriptor of a file that still grows: how many of `length` bytes
 * from `offset` can be taken now, waiting for the first; `length` if it is final
 * or no such file. 0..length or -errno. *grows: more may come. */
int64_t leat_readable(int fd, int64_t offset, int64_t length, bool *grows);
/* Bytes of a file that is not retained, from `offset` on: are they still there? To be asked before
 * and after they are read. False is reported as a violation. */
bool leat_still_there(const struct leat_fd *r, uint64_t offset);
/* Wait for the commit of what `fd` reads, if it still grows. 0 or -errno. */
int leat_wait_whole(int fd);

#endif
