/* Reads. A consumer of a growing file waits until all it asks for exists; every
 * other read is only counted. */
#include "preload/connection/client.h"
#include "preload/connection/timing.h"
#include "preload/core/call.h"
#include "preload/fd/bytes.h"
#include "preload/fd/migrate.h"
#include "preload/fd/offset.h"
#include "preload/fd/reading.h"
#include "preload/fd/table.h"
#include "preload/fd/window.h"
#include "preload/hooks/handlers.h"
#include "shm/extents.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t total(const struct iovec *v, long n)
{
	uint64_t sum = 0;

	for (long i = 0; v && i < n && n <= IOV_MAX; i++)
		sum += v[i].iov_len;
	return sum < LEAT_MAX_RW ? sum : LEAT_MAX_RW;
}

/* A read with its place and size. */
struct reading {
	const struct leat_syscall *c;
	int fd;
	bool positioned;
	int64_t offset;
	uint64_t length;
	struct leat_offset *shared_offset; /* whose offset is meant; NULL: the kernel's */
	uint64_t claimed;                  /* bytes the kernel's offset was moved over for it */
};

static bool locate(struct reading *r)
{
	uint64_t at;

	if (r->positioned)
		return r->offset >= 0;
	if (leat_offset_get(r->shared_offset, &at)) {
		r->offset = (int64_t)at;
		return true;
	}
	r->shared_offset = NULL;
	r->offset = raw(SYS_lseek, r->fd, 0, SEEK_CUR);
	return r->offset >= 0;
}

/* The same call at a place of its own. */
static struct leat_syscall positioned(const struct leat_syscall *c, int64_t offset)
{
	struct leat_syscall at = *c;

	if (c->nr == SYS_read)
		at.nr = SYS_pread64;
	else if (c->nr == SYS_readv)
		at.nr = SYS_preadv;
	at.a[3] = offset;
	at.a[4] = 0; /* the offset's upper half */
	return at;
}

/* Read where the offset stands, which must be where `r` says. -EAGAIN: somebody has moved it. */
static long read_at_offset(const struct reading *r, const struct leat_syscall *c)
{
	const uint64_t at = (uint64_t)r->offset, end = at + r->length;
	struct leat_syscall call = positioned(c, r->offset);
	long n;

	if (!leat_offset_move(r->shared_offset, at, end))
		return -EAGAIN;
	n = leat_as_is(&call);
	if ((uint64_t)n != r->length)
		leat_offset_move(r->shared_offset, end, n < 0 ? at : at + (uint64_t)n);
	return n;
}

/* Read at the offset that the kernel keeps, or at a place of the call's own. */
static long read_by_kernel(const struct reading *r, const struct leat_syscall *c)
{
	struct leat_file_hold hold;
	long n;

	if (r->positioned)
		return leat_as_is(c);
	n = leat_file_acquire(r->fd, false, &hold);
	return n ? n : leat_file_release(&hold, leat_as_is(c));
}

/* Move the kernel's offset over what is to be read, in one go: nobody else reads it, wherever that
 * is, and it may be waited for before it is read. */
static long claim(struct reading *r)
{
	struct leat_file_hold hold;
	long end = leat_file_acquire(r->fd, false, &hold);

	if (end)
		return end;
	end = leat_file_release(&hold, raw(SYS_lseek, r->fd, r->length, SEEK_CUR));
	if (end < 0)
		return end;
	r->claimed = r->length;
	r->offset = end - (long)r->length;
	r->positioned = true;
	return 0;
}

/* Of what was claimed `n` bytes were read. */
static void give_back(const struct reading *r, long n)
{
	const uint64_t taken = n > 0 ? (uint64_t)n : 0;
	struct leat_file_hold hold;

	if (r->claimed <= taken || leat_file_acquire(r->fd, false, &hold))
		return;
	raw(SYS_lseek, r->fd, -(long)(r->claimed - taken), SEEK_CUR);
	leat_file_release(&hold, 0);
}

/* Wait until all of it can be read. 0 or -errno. */
static int wait_for(const struct reading *r, const struct leat_fd *record, struct leat_shm_file *f,
		    bool *final)
{
	int rc = leat_wait_covered(r->fd, record->slot, (uint64_t)r->offset, r->length, final);

	if (!rc)
		rc = leat_migrate_first(r->fd);
	if (rc)
		return rc;
	if (f)
		leat_shm_about_to_read(f, (uint64_t)r->offset, r->length);
	return leat_still_there(record, (uint64_t)r->offset) ? 0 : -EIO;
}

/* Zero or a short count is the truth only of a file that was final before; else
 * another process has moved the common offset, or the file was cut: again, for
 * the rest. */
static long read_growing(struct reading *r, const struct leat_fd *record)
{
	struct leat_shm_file *f = leat_client_file(record->slot);
	const bool plain = r->c->nr == SYS_read || r->c->nr == SYS_pread64;
	struct leat_syscall c = *r->c;
	struct leat_timing timing;
	long n, sum = 0;
	bool final, left;

	for (;;) {
		uint32_t generation;
		int64_t at;

		if (!locate(r))
			return leat_as_is(&c);
		n = wait_for(r, record, f, &final);
		generation = record->generation;
		at = r->offset;
		if (!n && !r->shared_offset && !r->positioned && !final) {
			n = claim(r);
			c = positioned(&c, r->offset);
		}
		if (n)
			return sum ? sum : n;
		if (r->offset != at) /* somebody has moved it since */
			continue;
		leat_timing_begin(&timing, r->length, leat_shm_counted(&leat_client_step()->reads));
		n = r->shared_offset ? read_at_offset(r, &c) : read_by_kernel(r, &c);
		leat_timing_end(&timing, n);
		if (n == -EAGAIN && r->shared_offset)
			continue;
		if (n < 0)
			return sum ? sum : n;
		if (n > 0 && !leat_still_there(record, (uint64_t)r->offset))
			return -EIO;
		leat_note_read(r->fd, (uint64_t)r->offset, (uint64_t)n, sum ? 0 : r->length);
		sum += n;
		left = (uint64_t)n < r->length && leat_has_left(record, generation);
		if (left) /* there is more where it has gone */
			final = false;
		if (final || !f || (uint64_t)n == r->length || (sum && !plain))
			return sum;
		if (!n && !left)
			leat_shm_wait(f, leat_shm_seq(f), UINT64_MAX, 1000000);
		c.a[1] += n;
		c.a[2] -= n;
		c.a[3] += n; /* not looked at by read */
		r->offset += n;
		r->length -= (uint64_t)n;
	}
}

/* Once the file is final its offsets matter only to who was shown a size before. */
static bool is_plain(const struct leat_fd *record)
{
	struct leat_shm_file *f;

	if (!record || record->kind != LEAT_KIND_CONSUMER)
		return true;
	f = leat_client_file(record->slot);
	return f && !leat_fd_has(record, LEAT_FD_SIZE | LEAT_FD_DROP) &&
	       (leat_shm_flags(f) & (LEAT_SHM_COMMITTED | LEAT_SHM_FAILED)) == LEAT_SHM_COMMITTED;
}

static long read_once(struct reading *r, const struct leat_syscall *c)
{
	long n = -EAGAIN;

	while (n == -EAGAIN && r->shared_offset && locate(r) && r->shared_offset)
		n = read_at_offset(r, c);
	return n == -EAGAIN ? read_by_kernel(r, c) : n;
}

/* A read that met the end of what the file was before it was moved goes on where it is
 * now. */
static long read_plain(struct reading *r, const struct leat_fd *record)
{
	const bool plain = r->c->nr == SYS_read || r->c->nr == SYS_pread64;
	struct leat_syscall c = *r->c;
	long n, sum = 0;
	uint32_t generation;

	do {
		generation = record ? record->generation : 0;
		n = read_once(r, &c);
		if (n < 0)
			return sum ? sum : n;
		sum += n;
		c.a[1] += n;
		c.a[2] -= n;
		c.a[3] += n; /* not looked at by read */
		r->length -= (uint64_t)n;
	} while (r->length && (plain || !sum) && record && record->slot &&
		 leat_has_left(record, generation) && !leat_migrate(r->fd, false) &&
		 record->generation != generation);
	return sum;
}

/* Of a file that this descriptor may write: its end must be where it is. */
static long read_own(struct reading *r, const struct leat_fd *record)
{
	struct leat_file_hold hold;
	long n = leat_window_acquire(record, r->fd, &hold);

	if (n)
		return n;
	n = read_plain(r, record);
	leat_file_release(&hold, 0);
	return n;
}

static long do_read(struct reading *r)
{
	const struct leat_fd *record = leat_fd_get(r->fd);
	const int64_t offset = r->positioned ? r->offset : -1;
	struct leat_shm_step *step = leat_client_step();
	const uint64_t asked = r->length;
	struct leat_timing timing;
	long n;

	if (record && !r->positioned)
		r->shared_offset = record->shared_offset;
	if (!is_plain(record)) {
		n = read_growing(r, record);
		give_back(r, n);
	} else {
		leat_timing_begin(&timing, asked, leat_shm_counted(&step->reads));
		n = record && leat_fd_has(record, LEAT_FD_WRITE) ? read_own(r, record)
								 : read_plain(r, record);
		leat_timing_end(&timing, n);
	}
	leat_note_taken(r->fd, n, asked, offset);
	if (n > 0) {
		leat_shm_count(&step->bytes_in, (uint64_t)n);
		leat_shm_count(&step->reads, 1);
	}
	return n;
}

static uint64_t at_most(long length)
{
	return (unsigned long)length < LEAT_MAX_RW ? (unsigned long)length : LEAT_MAX_RW;
}

/* Most reads are of no version. */
static int64_t noted(const struct leat_fd *record, const struct reading *r, int64_t n)
{
	if (!leat_fd_is_unread(record))
		return n;
	return leat_note_taken(r->fd, n, r->length, r->positioned ? r->offset : -1);
}

long leat_hook_read(const struct leat_syscall *c)
{
	struct reading r = {.c = c, .fd = (int)c->a[0], .length = at_most(c->a[2])};
	struct leat_fd *record = leat_fd_get(r.fd);
	int64_t n = LEAT_WINDOW_PASS;

	if (record && record->shared_offset)
		n = leat_window_read(record, r.fd, (void *)c->a[1], r.length);
	return n == LEAT_WINDOW_PASS ? do_read(&r) : noted(record, &r, n);
}

long leat_hook_pread(const struct leat_syscall *c)
{
	struct reading r = {.c = c,
			    .fd = (int)c->a[0],
			    .positioned = true,
			    .offset = c->a[3],
			    .length = at_most(c->a[2])};
	struct leat_fd *record = leat_fd_get(r.fd);
	int64_t n = LEAT_WINDOW_PASS;

	/* only a file of the store has an offset here */
	if (record && record->shared_offset)
		n = leat_window_pread(record, r.fd, (void *)c->a[1], r.length, r.offset);
	return n == LEAT_WINDOW_PASS ? do_read(&r) : noted(record, &r, n);
}

long leat_hook_readv(const struct leat_syscall *c)
{
	struct reading r = {.c = c,
			    .fd = (int)c->a[0],
			    .length = total((const struct iovec *)c->a[1], c->a[2])};

	return do_read(&r);
}

/* preadv and preadv2; the latter takes -1 for the descriptor's own offset */
long leat_hook_preadv(const struct leat_syscall *c)
{
	struct reading r = {.c = c,
			    .fd = (int)c->a[0],
			    .positioned = c->nr != SYS_preadv2 || c->a[3] != -1,
			    .offset = c->a[3],
			    .length = total((const struct iovec *)c->a[1], c->a[2])};
	struct leat_fd *record = leat_fd_get(r.fd);

	if (!r.positioned && record)
		leat_offset_release(record->shared_offset, r.fd);
	return do_read(&r);
}
