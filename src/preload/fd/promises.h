/* What a write may not do: change bytes that consumers have read, or a file that is complete. Each
 * function answers 0, or -EIO when a promise is broken, which is then reported. Of any thread. */
#ifndef LEAT_PRELOAD_FD_PROMISES_H
#define LEAT_PRELOAD_FD_PROMISES_H

#include "preload/fd/table.h"

#include <stdint.h>
#include <sys/uio.h>

struct leat_shm_file;

/* Bytes to be written, as writev has them. */
struct leat_pieces {
	const struct iovec *v;
	long n;
};

/* Before a write at `offset` of `fd` (-1: the descriptor's own) by a call that is no write. */
int leat_before_write(int fd, int64_t offset, uint64_t length);

/* Is the file complete? */
int leat_check_committed(struct leat_fd *r, struct leat_shm_file *f, uint64_t offset,
			 uint64_t length);

/* A publisher's write, where it is about to land; `offset` -1: at the descriptor's own. A hole that
 * it leaves is noted. NULL: `length` bytes that nobody knows. */
int leat_check_range(int fd, struct leat_fd *r, const struct leat_pieces *p, int64_t offset,
		     uint64_t length);

/* The promise `code` was broken there: reported, by this descriptor once. */
int leat_report_broken(struct leat_fd *r, uint32_t code, uint64_t offset, uint64_t length);

/* Before something is changed through a descriptor, which the daemon may have to know. */
void leat_fd_report_write(struct leat_fd *r);
static inline void leat_before_change(struct leat_fd *r)
{
	if (leat_fd_has(r, LEAT_FD_INTACT))
		leat_fd_report_write(r);
}

#endif
