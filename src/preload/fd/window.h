/* Small reads and writes of files in memory, copied by this process through a mapped window of the
 * file. Descriptors on which many small operations are made get one; large operations are made by
 * the kernel, which copies as fast. */
#ifndef LEAT_PRELOAD_FD_WINDOW_H
#define LEAT_PRELOAD_FD_WINDOW_H

#include "preload/fd/table.h"
#include "preload/fd/migrate.h"

#include <stdint.h>

/* "Not here": the call has to be made the long way. */
#define LEAT_WINDOW_PASS INT64_MIN

/* As read and write at the descriptor's own offset; bytes or LEAT_WINDOW_PASS. */
int64_t leat_window_read(struct leat_fd *r, int fd, void *to, uint64_t length);
/* As pread. */
int64_t leat_window_pread(struct leat_fd *r, int fd, void *to, uint64_t length, int64_t at);
int64_t leat_window_write(struct leat_fd *r, int fd, const void *from, uint64_t length);

/* The descriptor is about to be closed: unmap, count what was not counted yet. */
void leat_window_close(struct leat_fd *r, int fd);

/* The file is elsewhere now: let go of the memory it had, unless somebody is just looking at it. */
void leat_window_drop(struct leat_fd *r);

/* Count what was not counted yet. */
void leat_window_count(struct leat_fd *r);

/* Make the kernel's size of the file true, if the descriptor may write; `shut`: and keep it so.
 * Who cannot write cannot change the size either, and needs not. False: somebody is at it and does
 * not end, or the kernel refused. */
bool leat_window_settle(const struct leat_fd *r, int fd, bool shut);

/* The same for a call that cannot be made without: 0, or -EIO after much patience. */
int leat_window_settle_now(const struct leat_fd *r, int fd);

/* The same, and it stays true until leat_let_go. 0 or -errno, and nothing is held. */
int leat_window_hold(const struct leat_fd *r, int fd, struct leat_hold *h);

/* The kernel, or another process, is to use the descriptor: its offset and the file's size are
 * made true; `shut`: the size stays so. False: that was not to be had, as for leat_window_settle.
 */
bool leat_window_yield(struct leat_fd *r, int fd, bool shut);

/* The file's true length, by any descriptor of it. 0 if it cannot be known. */
uint64_t leat_window_length(const struct leat_fd *r, int fd);

#endif
