/* Small reads and writes of files in memory, copied by this process through a mapped window of the
 * file. Descriptors on which many small operations are made get one; large operations are made by
 * the kernel, which copies as fast. */
#ifndef LEAT_PRELOAD_FD_WINDOW_H
#define LEAT_PRELOAD_FD_WINDOW_H

#include "preload/fd/table.h"

#include <stdint.h>

/* "Not here": the call has to be made the long way. */
#define LEAT_WINDOW_PASS INT64_MIN

/* As read and write at the descriptor's own offset; bytes or LEAT_WINDOW_PASS. */
int64_t leat_window_read(struct leat_fd *r, int fd, void *to, uint64_t length);
/* As pread. */
int64_t leat_window_pread(struct leat_fd *r, int fd, void *to, uint64_t length, int64_t at);
int64_t leat_window_write(struct leat_fd *r, int fd, const void *from, uint64_t length);

#endif
