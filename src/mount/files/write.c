/* Changes of a file's bytes and length. */
#include "mount/files/write.h"
#include "mount/daemon/ask.h"
#include "mount/files/migrate.h"
#include "mount/names/handle.h"
#include "mount/record/record.h"

#include "base/fd.h"
#include "base/log.h"
#include "client/publisher.h"
#include "eventlog/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20 /* since Linux 6.9 */
#endif

static uint64_t size_of(const struct leat_handle *h)
{
	struct stat st;

	return fstat(h->fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

static bool is_producer(const struct leat_handle *h)
{
	return leat_publisher_may_write(h->kind);
}

static int report_once(struct leat_mount_call *call, struct leat_handle *h, uint32_t code,
		       uint64_t offset, uint64_t length)
{
	h->reported = true;
	return leat_channel_violation(leat_mount_channel(call), code, h->slot, offset, length);
}

/* Are the bytes what the file holds at `offset`? The file may be open for writing only. */
static bool writes_same(const struct leat_handle *h, const char *data, uint64_t length,
			uint64_t offset)
{
	char there[4096], path[64];
	bool same = true;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", h->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && same && length) {
		size_t part = length < sizeof(there) ? length : sizeof(there);
		ssize_t n = pread(fd, there, part, (off_t)offset);

		same = n > 0 && memcmp(there, data, (size_t)n) == 0;
		if (!same)
			break;
		data += n;
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	same = same && fd >= 0;
	leat_close(&fd);
	return same;
}

/* A publisher's write: would it leave a hole, or change what a consumer has read? */
static int check_publisher(struct leat_mount_call *call, struct leat_handle *h,
			   struct leat_shm_file *f, const char *data, uint64_t size,
			   uint64_t offset)
{
	struct leat_range left = {offset, leat_range_end(offset, size)}, part;

	if (!(leat_shm_flags(f) & LEAT_SHM_SPARSE) && offset > leat_shm_frontier(f) &&
	    offset > size_of(h))
		leat_shm_mark_sparse(f);
	for (; leat_shm_consumed_part(call->m->shm, f, left, &part); left.begin = part.end)
		if (!data || !writes_same(h, data + (part.begin - offset), part.end - part.begin,
					  part.begin))
			return report_once(call, h, LEAT_VIOLATION_REWRITE, part.begin,
					   part.end - part.begin);
	return 0;
}

static int check(struct leat_mount_call *call, struct leat_handle *h, struct leat_shm_file *f,
		 const char *data, uint64_t size, uint64_t offset, bool appends)
{
	int rc = 0;

	if (!h->reported && size && is_producer(h) && leat_shm_flags(f) & LEAT_SHM_COMMITTED)
		rc = report_once(call, h, LEAT_VIOLATION_AFTER_COMMIT,
				 appends ? size_of(h) : offset, size);
	if (!rc && h->kind == LEAT_KIND_PUBLISHER && !appends)
		rc = check_publisher(call, h, f, data, size, offset);
	return rc;
}

static void publish(struct leat_mount_call *call, const struct leat_handle *h,
		    struct leat_shm_file *f, uint64_t start, uint64_t end)
{
	struct leat_msg_range extent;

	if (leat_publisher_publish(f, h->slot, start, end, &extent))
		leat_channel_report(leat_mount_channel(call), &extent.h);
}

static void report_written(struct leat_mount_call *call, const struct leat_handle *h,
			   uint64_t start, uint64_t length, bool appends)
{
	const struct leat_msg_written written = {.h.type = LEAT_MSG_WRITTEN,
						 .slot = h->slot,
						 .appended = appends,
						 .ofd = h->ofd,
						 .offset = start,
						 .length = length};

	if (call->connection)
		leat_channel_report(leat_mount_channel(call), &written.h);
}

/* A descriptor opened with O_APPEND appends wherever it is told to write; what comes from a
 * mapping must not. */
static ssize_t put(const struct leat_handle *h, const char *data, size_t size, uint64_t offset,
		   bool mapped)
{
	struct iovec v = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
	ssize_t n;

	if (mapped && h->flags & O_APPEND)
		n = pwritev2(h->fd, &v, 1, (off_t)offset, RWF_NOAPPEND);
	else
		n = pwrite(h->fd, data, size, (off_t)offset);
	return n < 0 ? -errno : n;
}

/* The same, while the file stays where it is. */
static ssize_t put_held(struct leat_mount_call *call, struct leat_handle *h, const char *data,
			size_t size, uint64_t offset, bool mapped)
{
	struct leat_handle_held held;
	int rc = leat_handle_acquire(call, h, &held);

	return rc ? rc : leat_handle_release(&held, put(h, data, size, offset, mapped));
}

/* The kernel takes set-id bits off a file that another user writes, but here root does. */
static void drop_set_id(const struct leat_mount_call *call, const struct leat_handle *h)
{
	struct stat st;

	if (call->connection->user.uid && fstat(h->fd, &st) == 0 &&
	    st.st_mode & (S_ISUID | S_ISGID) && fchmod(h->fd, st.st_mode & 01777) < 0)
		leat_warn("set-id bits stay on a file that another user has written: %s",
			  strerror(errno));
}

/* All of it, with space made if there is none. */
static ssize_t put_retrying(struct leat_mount_call *call, struct leat_handle *h, const char *data,
			    size_t size, uint64_t offset, bool mapped)
{
	uint64_t attempt = 0, since;
	size_t done = 0;
	ssize_t n;

	do {
		since = leat_mount_now_ns();
		n = leat_mount_is_over_budget(call, h->slot, size - done)
			    ? -ENOSPC
			    : put_held(call, h, data + done, size - done, offset + done, mapped);
		leat_shm_count(&leat_mount_step(call)->copy_ns, leat_mount_now_ns() - since);
		if (n == -ENOSPC && leat_mount_make_space(call, h->slot, size - done, &attempt))
			continue;
		if (n <= 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	} while (done < size);
	return (ssize_t)done;
}

/* As in the interception library: an open that changes nothing is none. */
static void before_change(struct leat_mount_call *call, struct leat_handle *h)
{
	const struct leat_msg_wrote wrote = {
		.h.type = LEAT_MSG_WROTE, .slot = h->slot, .ofd = h->ofd};
	bool report;

	pthread_mutex_lock(&h->m->lock);
	report = h->intact;
	h->intact = false;
	pthread_mutex_unlock(&h->m->lock);
	if (report && call->connection)
		leat_mount_report(call, &wrote.h);
}

/* Look whether it may be, and write it; consumers of bytes that it changes wait meanwhile. */
static ssize_t put_checked(struct leat_mount_call *call, struct leat_handle *h, const char *data,
			   size_t size, uint64_t offset, bool mapped)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	const bool appends = h->flags & O_APPEND && !mapped;
	const bool rewrites =
		f && h->kind == LEAT_KIND_PUBLISHER && !appends &&
		(offset < leat_shm_frontier(f) || leat_shm_flags(f) & LEAT_SHM_EXTENTS);
	const struct leat_range range = {offset, leat_range_end(offset, size)};
	ssize_t n;

	if (rewrites)
		leat_shm_rewrite_begin(f, range);
	n = f ? check(call, h, f, data, size, offset, appends) : 0;
	if (!n) {
		before_change(call, h);
		n = put_retrying(call, h, data, size, offset, mapped);
	}
	if (rewrites)
		leat_shm_rewrite_end(f, range);
	return n;
}

ssize_t leat_handle_write(struct leat_mount_call *call, struct leat_handle *h, const char *data,
			  size_t size, uint64_t offset, bool mapped)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	bool appends = h->flags & O_APPEND && !mapped;
	uint64_t end;
	ssize_t n = leat_handle_migrate(call, h, false);

	if (!n)
		n = put_checked(call, h, data, size, offset, mapped);
	if (n > 0)
		drop_set_id(call, h);
	if (n <= 0)
		return n;
	leat_shm_count(&leat_mount_step(call)->bytes_out, (uint64_t)n);
	leat_shm_count(&leat_mount_step(call)->writes, 1);
	end = appends ? size_of(h) : offset + (uint64_t)n;
	if (f && is_producer(h) && leat_shm_flags(f) & LEAT_SHM_SHARED)
		report_written(call, h, end - (uint64_t)n, (uint64_t)n, appends);
	/* Of the pages of a mapping nobody knows which bytes the program has written: they are
	 * there at the commit. The file was made longer before, which has reported the hole. */
	if (f && h->kind == LEAT_KIND_PUBLISHER && !mapped)
		publish(call, h, f, end - (uint64_t)n, end);
	return n;
}

static int check_cut(const struct leat_mount_call *call, const struct leat_handle *h,
		     struct leat_shm_file *f, uint64_t length, uint64_t size)
{
	const uint32_t code = leat_publisher_check_length(f, length, size);

	return code ? leat_channel_violation(leat_mount_channel(call), code, h->slot, length, 0)
		    : 0;
}

/* The daemon must have taken back what was announced beyond `length`, and know of the hole before
 * it, before the next write announces anew. */
static void report_length(struct leat_mount_call *call, const struct leat_handle *h,
			  uint64_t length, uint64_t size)
{
	const struct leat_msg_truncated truncated = {.h.type = LEAT_MSG_TRUNCATED,
						     .slot = h->slot,
						     .same = length == size,
						     .ofd = h->ofd,
						     .length = length};

	leat_mount_report(call, &truncated.h);
}

/* `change`, with space made if there is none for `length` bytes. */
static int change_retrying(struct leat_mount_call *call, struct leat_handle *h, uint64_t length,
			   int (*change)(struct leat_handle *h, const uint64_t *args),
			   const uint64_t *args)
{
	struct leat_handle_held held;
	uint64_t attempt = 0;
	int rc;

	do {
		rc = leat_handle_acquire(call, h, &held);
		if (!rc)
			rc = (int)leat_handle_release(&held, change(h, args));
	} while (rc == -ENOSPC && leat_mount_make_space(call, h->slot, length, &attempt));
	return rc;
}

/* Around `change`, which gives the file `length` bytes. */
static int resize(struct leat_mount_call *call, struct leat_handle *h, uint64_t length,
		  int (*change)(struct leat_handle *h, const uint64_t *args), const uint64_t *args)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	int rc = leat_handle_migrate(call, h, false);
	uint64_t size = size_of(h);

	if (rc)
		return rc;
	if (!f || !is_producer(h))
		return change_retrying(call, h, length, change, args);
	rc = check_cut(call, h, f, length, size);
	if (rc)
		return rc;
	/* Either way an offset may now lie beyond the end, or a hole is left. */
	if (h->kind == LEAT_KIND_PUBLISHER && length != size)
		leat_shm_mark_sparse(f);
	rc = change_retrying(call, h, length, change, args);
	/* What others write beyond it afterwards is cut off in a batch. */
	if (!rc && (length != size || !length || leat_shm_flags(f) & LEAT_SHM_SHARED))
		report_length(call, h, length, size);
	return rc;
}

static int truncate_it(struct leat_handle *h, const uint64_t *args)
{
	return ftruncate(h->fd, (off_t)args[0]) < 0 ? -errno : 0;
}

int leat_handle_resize(struct leat_mount_call *call, struct leat_handle *h, uint64_t length)
{
	int rc = resize(call, h, length, truncate_it, &length);

	leat_record_cut(call, h, 0, h->fd, length, rc);
	return rc;
}

/* A tmpfs cannot write zeros over a range, but take it away and allocate it anew. */
static int allocate_it(struct leat_handle *h, const uint64_t *args)
{
	int mode = (int)args[0], keep = mode & FALLOC_FL_KEEP_SIZE;
	off_t offset = (off_t)args[1], length = (off_t)args[2];

	if (fallocate(h->fd, mode, offset, length) == 0)
		return 0;
	if (errno != EOPNOTSUPP || (mode & ~FALLOC_FL_KEEP_SIZE) != FALLOC_FL_ZERO_RANGE)
		return -errno;
	if (fallocate(h->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length) < 0 ||
	    fallocate(h->fd, keep, offset, length) < 0)
		return -errno;
	return 0;
}

int leat_handle_allocate(struct leat_mount_call *call, struct leat_handle *h, int mode,
			 uint64_t offset, uint64_t length)
{
	const uint64_t args[] = {(uint64_t)mode, offset, length};
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	uint64_t end = offset + length;
	int rc = 0;

	/* Holes, zeros, shifts: bytes that exist change. */
	if (f && is_producer(h) && mode & ~FALLOC_FL_KEEP_SIZE)
		rc = check(call, h, f, NULL, length, offset, false);
	if (rc)
		return rc;
	before_change(call, h);
	if (mode & FALLOC_FL_KEEP_SIZE || end <= size_of(h))
		return change_retrying(call, h, length, allocate_it, args);
	return resize(call, h, end, allocate_it, args);
}
