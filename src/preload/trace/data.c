/* Calls that move bytes by a descriptor. */
#include "iotrace/trace.h"
#include "preload/core/call.h"
#include "preload/hooks/hooks.h"
#include "preload/trace/calls.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* An offset that is the description's own. */
#define OWN INT64_C(-1)

bool leat_trace_data_begin(struct leat_traced *t)
{
	t->handle = leat_trace_handle((int)t->call.a[0]);
	return t->handle != 0;
}

/* Where a write with an offset of its own began that was appended nevertheless. */
static uint64_t appended_at(int fd, uint64_t n)
{
	struct stat st;

	if (leat_hook(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) < 0 || (uint64_t)st.st_size < n)
		return 0;
	return (uint64_t)st.st_size - n;
}

/* Where an operation at the handle's own offset began; it has moved the offset by `n`. */
static uint64_t own_offset(uint32_t handle, int fd, uint64_t n, bool is_write)
{
	uint32_t flags = leat_tracebuf_handle_flags(leat_trace_buffer, handle);
	bool appended = flags & LEAT_TRACEBUF_APPEND && is_write;
	long at;

	if (!(flags & LEAT_TRACEBUF_UNSURE) && !appended)
		return leat_tracebuf_handle_move(leat_trace_buffer, handle, n);
	at = leat_hook(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
	if (at < 0)
		return leat_tracebuf_handle_move(leat_trace_buffer, handle, n);
	leat_tracebuf_handle_seek(leat_trace_buffer, handle, (uint64_t)at);
	return (uint64_t)at - n;
}

/* Bytes moved by `fd`, at `offset` or OWN. */
static void moved(const struct leat_traced *t, uint8_t type, uint32_t handle, int fd, long result,
		  uint64_t asked, int64_t offset)
{
	uint64_t n = result > 0 ? (uint64_t)result : 0;
	uint32_t flags = leat_tracebuf_handle_flags(leat_trace_buffer, handle);
	struct leat_tracebuf_record *r;

	if (flags & LEAT_TRACEBUF_STREAM)
		offset = 0;
	else if (offset != OWN && flags & LEAT_TRACEBUF_APPEND && type == LEAT_TRACE_WRITE && n)
		offset = (int64_t)appended_at(fd, n);
	else if (offset == OWN)
		offset = (int64_t)own_offset(handle, fd, n, type == LEAT_TRACE_WRITE);
	if (flags & LEAT_TRACEBUF_OPEN_LOST) {
		leat_tracebuf_lose(leat_trace_buffer, LEAT_TRACE_LOST_BUFFER, 1);
		return;
	}
	r = leat_trace_record(leat_trace_me(), type, t, 0);
	if (!r)
		return;
	r->handle = leat_tracebuf_handle_id(leat_trace_buffer, handle);
	r->result = result;
	r->offset = (uint64_t)offset;
	r->length = asked;
	leat_trace_done(r, NULL);
}

static bool is_vector(long nr)
{
	return nr == SYS_readv || nr == SYS_writev || nr == SYS_preadv || nr == SYS_pwritev ||
	       nr == SYS_preadv2 || nr == SYS_pwritev2;
}

static uint64_t asked_by(const struct leat_traced *t, long result)
{
	const struct iovec *v = (const struct iovec *)t->call.a[1];
	uint64_t sum = 0;

	if (!is_vector(t->call.nr))
		return (uint64_t)t->call.a[2];
	/* What the kernel would not read, we do not. */
	for (long i = 0; result != -EFAULT && result != -EINVAL && i < t->call.a[2]; i++)
		sum += v[i].iov_len;
	return sum;
}

static void moved_by(const struct leat_traced *t, uint8_t type, long result, int64_t offset)
{
	moved(t, type, t->handle, (int)t->call.a[0], result, asked_by(t, result), offset);
}

void leat_trace_read_end(struct leat_traced *t, long result)
{
	moved_by(t, LEAT_TRACE_READ, result, OWN);
}

void leat_trace_write_end(struct leat_traced *t, long result)
{
	moved_by(t, LEAT_TRACE_WRITE, result, OWN);
}

/* preadv2 and pwritev2 take -1 for the description's own. */
void leat_trace_pread_end(struct leat_traced *t, long result)
{
	moved_by(t, LEAT_TRACE_READ, result, t->call.a[3]);
}

void leat_trace_pwrite_end(struct leat_traced *t, long result)
{
	moved_by(t, LEAT_TRACE_WRITE, result, t->call.a[3]);
}

void leat_trace_lseek_end(struct leat_traced *t, long result)
{
	if (result >= 0)
		leat_tracebuf_handle_seek(leat_trace_buffer, t->handle, (uint64_t)result);
}

void leat_trace_ftruncate_end(struct leat_traced *t, long result)
{
	struct leat_tracebuf_record *r =
		leat_trace_record(leat_trace_me(), LEAT_TRACE_TRUNCATE, t, 0);

	if (!r)
		return;
	r->handle = leat_tracebuf_handle_id(leat_trace_buffer, t->handle);
	r->result = result;
	r->length = (uint64_t)t->call.a[1];
	leat_trace_done(r, NULL);
}

/* --- from one descriptor to another --- */

struct copying {
	int from, to;
	const int64_t *from_at, *to_at; /* the program's; NULL: the descriptions' own */
	uint64_t length;
};

static struct copying copying_of(const struct leat_syscall *c)
{
	if (c->nr == SYS_sendfile)
		return (struct copying){.from = (int)c->a[1],
					.to = (int)c->a[0],
					.from_at = (const int64_t *)c->a[2],
					.length = (uint64_t)c->a[3]};
	return (struct copying){(int)c->a[0], (int)c->a[2], (const int64_t *)c->a[1],
				(const int64_t *)c->a[3], (uint64_t)c->a[4]};
}

bool leat_trace_copy_begin(struct leat_traced *t)
{
	struct copying c = copying_of(&t->call);

	t->handle = leat_trace_handle(c.from);
	t->other = leat_trace_handle(c.to);
	return t->handle || t->other;
}

/* The program's offset has been moved as well. */
static int64_t began_at(const int64_t *at, long result)
{
	return at ? *at - (result > 0 ? result : 0) : OWN;
}

void leat_trace_copy_end(struct leat_traced *t, long result)
{
	struct copying c = copying_of(&t->call);

	if (result == -EFAULT)
		c.from_at = c.to_at = NULL;
	if (t->handle)
		moved(t, LEAT_TRACE_READ, t->handle, c.from, result, c.length,
		      began_at(c.from_at, result));
	if (t->other)
		moved(t, LEAT_TRACE_WRITE, t->other, c.to, result, c.length,
		      began_at(c.to_at, result));
}

/* --- mappings --- */

bool leat_trace_map_begin(struct leat_traced *t)
{
	if (t->call.a[3] & MAP_ANONYMOUS)
		return false;
	t->handle = leat_trace_handle((int)t->call.a[4]);
	return t->handle != 0;
}

void leat_trace_map_end(struct leat_traced *t, long result)
{
	bool is_private = (t->call.a[3] & MAP_TYPE) == MAP_PRIVATE;
	struct leat_tracebuf_record *r;

	if (result < 0 && result > -4096)
		return;
	r = leat_trace_record(leat_trace_me(), LEAT_TRACE_MAP, t, 0);
	if (!r)
		return;
	r->handle = leat_tracebuf_handle_id(leat_trace_buffer, t->handle);
	r->length = (uint64_t)t->call.a[1];
	r->offset = (uint64_t)t->call.a[5];
	/* what is written to a private mapping never gets to the file */
	r->flags = (uint32_t)t->call.a[2] & ~(is_private ? (uint32_t)PROT_WRITE : 0);
	leat_trace_done(r, NULL);
}
