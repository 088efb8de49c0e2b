/* Writes. A publisher's bytes are announced as soon as they are in the file;
 * writes that break a promise (bytes already read are changed, the file is
 * committed) are reported. */
#include "base/fault.h"
#include "client/publisher.h"
#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/connection/timing.h"
#include "preload/core/call.h"
#include "preload/fd/migrate.h"
#include "preload/fd/offset.h"
#include "preload/fd/promises.h"
#include "preload/fd/size.h"
#include "preload/fd/space.h"
#include "preload/fd/table.h"
#include "preload/fd/window.h"
#include "preload/hooks/handlers.h"
#include "shm/state.h"
#include "shm/window.h"
#include "wire/wire.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

struct writing {
	const struct leat_syscall *c;
	int fd;
	bool positioned;
	int64_t offset; /* -1: at the descriptor's own */
	const struct iovec *v;
	long n;
	struct leat_offset
		*shared_offset;   /* to be moved over it once the file is held; NULL: no more */
	struct leat_syscall made; /* the call at that place */
};

static uint64_t total(const struct writing *w)
{
	uint64_t sum = 0;

	for (long i = 0; w->v && i < w->n && w->n <= IOV_MAX; i++)
		sum += w->v[i].iov_len;
	return sum;
}

static int64_t offset_of(int fd)
{
	return raw(SYS_lseek, fd, 0, SEEK_CUR);
}

static int check_publisher(const struct writing *w, struct leat_fd *r)
{
	/* Where it is not known, nothing that exists can be there. */
	if (leat_fd_has(r, LEAT_FD_APPEND) || (!w->positioned && !leat_fd_has(r, LEAT_FD_UNSURE)) ||
	    (w->positioned && w->offset < 0))
		return 0;
	return leat_check_range(w->fd, r, &(struct leat_pieces){w->v, w->n},
				w->positioned ? w->offset : -1, 0);
}

static void publish(const struct leat_fd *r, struct leat_shm_file *f, uint64_t start, uint64_t end)
{
	struct leat_msg_range extent;

	if (leat_publisher_publish(f, r->slot, start, end, &extent))
		leat_client_report(&extent.h);
}

static bool is_shared(struct leat_shm_file *f)
{
	return f && leat_shm_flags(f) & LEAT_SHM_SHARED;
}

void leat_report_written(const struct leat_fd *r, uint64_t start, uint64_t length)
{
	const struct leat_msg_written written = {.h.type = LEAT_MSG_WRITTEN,
						 .slot = r->slot,
						 .appended = leat_fd_has(r, LEAT_FD_APPEND) ? 1 : 0,
						 .ofd = r->ofd,
						 .offset = start,
						 .length = length};

	if (is_shared(leat_client_file(r->slot)) && leat_publisher_may_write(r->kind))
		leat_client_report(&written.h);
}

void leat_publish_to(int fd, int64_t end, int64_t written)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;

	if (written <= 0)
		return;
	leat_shm_count(&leat_client_step()->bytes_out, (uint64_t)written);
	leat_shm_count(&leat_client_step()->writes, 1);
	if (!f || (r->kind != LEAT_KIND_PUBLISHER && !is_shared(f)))
		return;
	if (end < 0)
		end = offset_of(fd);
	if (end < written)
		return;
	leat_report_written(r, (uint64_t)(end - written), (uint64_t)written);
	if (r->kind == LEAT_KIND_PUBLISHER)
		publish(r, f, (uint64_t)(end - written), (uint64_t)end);
}

/* An offset that was not known before is known now: another process had moved
 * it back. */
static int check_afterwards(struct leat_fd *r, struct leat_shm_file *f, int64_t end, long written,
			    uint64_t frontier)
{
	uint64_t start = (uint64_t)(end - written);

	if (end < written || start >= frontier || leat_fd_has(r, LEAT_FD_REPORTED))
		return 0;
	if (!leat_shm_was_consumed(f, start,
				   (uint64_t)written < frontier - start ? (uint64_t)written
									: frontier - start))
		return 0;
	return leat_report_broken(r, LEAT_VIOLATION_REWRITE, start, (uint64_t)written);
}

static long write_timed(const struct writing *w)
{
	struct leat_timing timing;
	long n;

	leat_timing_begin(&timing, total(w), leat_shm_counted(&leat_client_step()->writes));
	n = leat_as_is(w->c);
	leat_timing_end(&timing, n);
	return n;
}

/* May it change bytes that exist, of which a consumer may be about to read? */
static bool may_rewrite(const struct writing *w, const struct leat_fd *r, struct leat_shm_file *f)
{
	if (leat_fd_has(r, LEAT_FD_APPEND))
		return false;
	return !w->positioned || w->offset < 0 || leat_shm_flags(f) & LEAT_SHM_EXTENTS ||
	       (uint64_t)w->offset < leat_shm_frontier(f);
}

static long write_checked(const struct writing *w, struct leat_fd *r, struct leat_shm_file *f)
{
	const bool rewrites = may_rewrite(w, r, f), known = w->positioned && w->offset >= 0;
	const uint64_t begin = known ? (uint64_t)w->offset : 0;
	const struct leat_range range = {begin,
					 known ? leat_range_end(begin, total(w)) : UINT64_MAX};
	long n;

	if (rewrites)
		leat_shm_rewrite_begin(f, range);
	n = check_publisher(w, r);
	if (!n)
		n = write_timed(w);
	if (rewrites)
		leat_shm_rewrite_end(f, range);
	return n;
}

/* Where the `n` bytes that were written end. */
static int64_t end_of(const struct writing *w, const struct leat_fd *r, long n)
{
	if (w->positioned && !leat_fd_has(r, LEAT_FD_APPEND))
		return w->offset + n;
	if (w->positioned) /* O_APPEND: pwrite appends and leaves the offset alone */
		return (int64_t)leat_window_length(r, w->fd);
	return offset_of(w->fd);
}

static long write_published(const struct writing *w, struct leat_fd *r, struct leat_shm_file *f)
{
	const bool guessed = !w->positioned && !leat_fd_has(r, LEAT_FD_UNSURE | LEAT_FD_APPEND);
	uint64_t frontier = leat_shm_frontier(f);
	int64_t end;
	long n;
	int rc;

	n = guessed ? write_timed(w) : write_checked(w, r, f);
	if (n <= 0)
		return n;
	end = end_of(w, r, n);
	rc = guessed ? check_afterwards(r, f, end, n, frontier) : 0;
	leat_publish_to(w->fd, end, n);
	return rc ? rc : n;
}

/* Where the write will land. */
static uint64_t where(const struct writing *w, const struct leat_fd *r)
{
	int64_t at = w->offset;

	if (leat_fd_has(r, LEAT_FD_APPEND))
		return leat_window_length(r, w->fd);
	if (!w->positioned)
		at = offset_of(w->fd);
	return at < 0 ? 0 : (uint64_t)at;
}

static long do_write(const struct writing *w)
{
	struct leat_fd *r = leat_fd_get(w->fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;
	long n;
	int rc;

	if (f && !leat_fd_has(r, LEAT_FD_REPORTED) && leat_shm_flags(f) & LEAT_SHM_COMMITTED) {
		rc = leat_check_committed(r, f, where(w, r), total(w));
		if (rc)
			return rc;
	}
	if (f && r->kind == LEAT_KIND_PUBLISHER)
		return write_published(w, r, f);
	n = write_timed(w);
	if (n > 0)
		leat_publish_to(w->fd, is_shared(f) ? end_of(w, r, n) : -1, n);
	return n;
}

/* A write where the kernel says. */
static long write_there(const struct writing *w, const struct leat_fd *r)
{
	struct leat_file_hold hold;
	long n;

	n = leat_window_acquire(r, w->fd, &hold);
	if (n)
		return n;
	LEAT_FAULT("write.held");
	n = leat_space_set_aside(w->fd, r, total(w));
	return leat_file_release(&hold, n ? n : do_write(w));
}

/* Move the offset over what is to be written: two threads never write at the same place. False: it
 * is the kernel's. */
static bool claim_range(struct writing *w)
{
	uint64_t from, length = total(w);

	do
		if (!leat_offset_get(w->shared_offset, &from)) {
			w->shared_offset = NULL;
			return false;
		}
	while (!leat_offset_move(w->shared_offset, from, from + length));
	w->made = *w->c;
	w->made.nr = w->c->nr == SYS_write ? SYS_pwrite64 : SYS_pwritev;
	w->made.a[3] = (long)from;
	w->made.a[4] = 0; /* the offset's upper half */
	w->c = &w->made;
	w->positioned = true;
	w->offset = (int64_t)from;
	w->shared_offset = NULL;
	return true;
}

/* A write whose place is known, while some other writer may have a window open. Between
 * leat_shm_writing and leat_shm_written the file stays where it is, too. */
static long write_here(struct writing *w, const struct leat_fd *r)
{
	struct leat_shm_file *f = leat_client_file(r->slot);
	struct leat_shm_write write;
	struct leat_file_hold hold;
	uint64_t start;
	long n;

	if (!f || !leat_fd_has(r, LEAT_FD_WRITE)) {
		if (w->shared_offset)
			claim_range(w);
		return do_write(w);
	}
	if (w->offset < 0 && !w->shared_offset)
		return write_there(w, r);
	for (;;) {
		n = leat_file_acquire(w->fd, true, &hold);
		if (n)
			return n;
		if (w->shared_offset && !claim_range(w)) {
			leat_file_release(&hold, 0);
			return write_there(w, r);
		}
		start = (uint64_t)w->offset;
		if (leat_shm_writing(f, start, start + total(w), &write))
			break;
		leat_file_release(&hold, 0);
		n = leat_window_truncate_now(r, w->fd);
		if (n)
			return n;
	}
	LEAT_FAULT("write.begun");
	n = do_write(w);
	LEAT_FAULT("write.made");
	leat_shm_written(f, &write, n > 0 ? start + (uint64_t)n : start);
	return leat_file_release(&hold, n);
}

/* What is behind the first `done` bytes, or the next piece of it. */
static long write_rest(const struct writing *w, const struct leat_fd *r, uint64_t done)
{
	uint64_t skip = done;
	const struct iovec *v = w->v;
	struct leat_syscall c = {.nr = w->offset < 0 ? SYS_write : SYS_pwrite64};
	struct writing rest = *w;
	struct iovec piece;

	for (; skip >= v->iov_len; v++)
		skip -= v->iov_len;
	piece = (struct iovec){.iov_base = (char *)v->iov_base + skip,
			       .iov_len = v->iov_len - skip};
	rest.c = &c;
	rest.v = &piece;
	rest.n = 1;
	if (w->offset >= 0)
		rest.offset = w->offset + (int64_t)done;
	c.a[0] = w->fd;
	c.a[1] = (long)piece.iov_base;
	c.a[2] = (long)piece.iov_len;
	c.a[3] = rest.offset;
	return write_here(&rest, r);
}

/* The same, with space made if there is none. A count that is short for want of space is completed,
 * too, because on a disk that has space no write is short. Nobody waits for space while he is
 * counted among those who write. */
static long write_retrying(struct writing *w, struct leat_fd *r)
{
	const uint64_t asked = total(w), length = asked < LEAT_MAX_RW ? asked : LEAT_MAX_RW;
	bool is_short = false;
	struct leat_space space = {0};
	long n, sum;

	if (asked)
		leat_before_change(r);
	do
		n = leat_space_is_over_budget(w->fd, length) ? -ENOSPC : write_here(w, r);
	while (n == -ENOSPC && leat_space_make(w->fd, length, &space));
	for (sum = n; n >= 0 && (uint64_t)sum<length; sum += n> 0 ? n : 0) {
		if ((w->c->nr == SYS_pwritev2 && w->c->a[5]) || !r->slot ||
		    (!is_short && !leat_space_was_full(w->fd, length)))
			break;
		is_short = true;
		n = write_rest(w, r, (uint64_t)sum);
		if (n == -ENOSPC && leat_space_make(w->fd, length - (uint64_t)sum, &space))
			n = 0;
	}
	return sum;
}

/* The same at the offset of the description. */
static long write_at_offset(struct writing *w, struct leat_fd *r)
{
	const uint64_t length = total(w);
	uint64_t from;
	long n;

	w->shared_offset = r->shared_offset;
	n = write_retrying(w, r);
	from = (uint64_t)w->offset;
	if (w->positioned && (uint64_t)n != length)
		leat_offset_move(r->shared_offset, from + length,
				 n < 0 ? from : from + (uint64_t)n);
	return n;
}

static struct iovec one(const struct leat_syscall *c)
{
	return (struct iovec){.iov_base = (void *)c->a[1], .iov_len = (size_t)c->a[2]};
}

/* A process may be killed when it has moved the common offset over what it has not written yet. The
 * kernel does both in one, so whoever was forked leaves it the offset before his first write. */
static struct leat_fd *to_write(int fd)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (r && leat_fd_has(r, LEAT_FD_FORKED) && leat_fd_has(r, LEAT_FD_WRITE)) {
		leat_window_release(r, fd, false);
		leat_fd_clear_flags(r, LEAT_FD_FORKED);
	}
	return r;
}

/* What no window takes. */
static long write_by_kernel(const struct leat_syscall *c, struct leat_fd *r)
{
	struct iovec v = one(c);
	struct writing w = {.c = c, .fd = (int)c->a[0], .offset = -1, .v = &v, .n = 1};

	if (!r)
		return do_write(&w);
	return r->shared_offset ? write_at_offset(&w, r) : write_retrying(&w, r);
}

long leat_hook_write(const struct leat_syscall *c)
{
	struct leat_fd *r = to_write((int)c->a[0]);
	int64_t n = LEAT_WINDOW_PASS;

	if (r && r->shared_offset)
		n = leat_window_write(r, (int)c->a[0], (const void *)c->a[1], (uint64_t)c->a[2]);
	return n == LEAT_WINDOW_PASS ? write_by_kernel(c, r) : n;
}

/* One that says where. */
static long write_at(struct writing *w)
{
	struct leat_fd *r = leat_fd_get(w->fd);

	return r ? write_retrying(w, r) : do_write(w);
}

long leat_hook_pwrite(const struct leat_syscall *c)
{
	struct iovec v = one(c);
	struct writing w = {
		.c = c, .fd = (int)c->a[0], .positioned = true, .offset = c->a[3], .v = &v, .n = 1};

	return write_at(&w);
}

long leat_hook_writev(const struct leat_syscall *c)
{
	struct writing w = {.c = c,
			    .fd = (int)c->a[0],
			    .offset = -1,
			    .v = (const struct iovec *)c->a[1],
			    .n = c->a[2]};
	struct leat_fd *r = to_write(w.fd);

	if (!r)
		return do_write(&w);
	return r->shared_offset ? write_at_offset(&w, r) : write_retrying(&w, r);
}

/* pwritev and pwritev2; the latter takes -1 for the descriptor's own offset */
long leat_hook_pwritev(const struct leat_syscall *c)
{
	struct writing w = {.c = c,
			    .fd = (int)c->a[0],
			    .positioned = c->nr != SYS_pwritev2 || c->a[3] != -1,
			    .offset = c->a[3],
			    .v = (const struct iovec *)c->a[1],
			    .n = c->a[2]};
	struct leat_fd *r = leat_fd_get(w.fd);

	/* With RWF_APPEND it lands at the end, wherever that is. */
	if (r && (!w.positioned || (c->nr == SYS_pwritev2 && c->a[5])) &&
	    !leat_window_release(r, w.fd, true))
		return -EIO;
	return write_at(&w);
}
