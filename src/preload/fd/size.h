/* The true size of a file whose kernel's size is ahead of it, because of windows. */
#ifndef LEAT_PRELOAD_FD_SIZE_H
#define LEAT_PRELOAD_FD_SIZE_H

#include "preload/fd/table.h"

#include <stdbool.h>
#include <stdint.h>

/* Make the kernel's size of the file true, if the descriptor may write; `shut`: and keep it so.
 * Who cannot write cannot change the size either, and needs not. False: somebody is at it and does
 * not end, or the kernel refused. */
bool leat_window_truncate(const struct leat_fd *r, int fd, bool shut);

/* The same for a call that cannot be made without: 0, or -EIO after much patience. */
int leat_window_truncate_now(const struct leat_fd *r, int fd);

/* The kernel, or another process, is to use the descriptor: its offset and the file's size are
 * made true; `shut`: the size stays so. False: that was not to be had, as for leat_window_truncate.
 */
bool leat_window_release(struct leat_fd *r, int fd, bool shut);

/* The file's true length, by any descriptor of it. 0 if it cannot be known. */
uint64_t leat_window_length(const struct leat_fd *r, int fd);

#endif
