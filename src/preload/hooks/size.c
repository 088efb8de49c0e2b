/* Calls that ask for or change the size of an open file. */
#include "client/publisher.h"
#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/fd/bytes.h"
#include "preload/fd/migrate.h"
#include "preload/fd/offset.h"
#include "preload/fd/promises.h"
#include "preload/fd/reading.h"
#include "preload/fd/size.h"
#include "preload/fd/space.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/resolve.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <linux/falloc.h>
#include <unistd.h>

/* Writes from here on may land on bytes that exist, or leave a hole. */
static void moved(struct leat_fd *r, int fd, int64_t to)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	leat_fd_set_flags(r, LEAT_FD_UNSURE);
	if (f && (uint64_t)to > leat_shm_frontier(f) && (uint64_t)to > leat_window_length(r, fd))
		leat_shm_mark_sparse(f);
}

static long seek_by_kernel(const struct leat_syscall *c)
{
	struct leat_file_hold hold;
	long rc = leat_file_acquire((int)c->a[0], false, &hold);

	return rc ? rc : leat_file_release(&hold, leat_as_is(c));
}

enum { MAX_SLEEPS = 5000 };

/* Who writes at the same offset has moved it already, and the end is not yet where it is about to
 * be: a seek to the end must not take it back. We are one of those who hold the file. */
static void await_writes(const struct leat_fd *r)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	for (int i = 0;
	     leat_fd_has(r, LEAT_FD_WRITE) && f && leat_shm_holders(f, true) > 1 && i < MAX_SLEEPS;
	     i++)
		leat_sleep(LEAT_SLEEP_NS);
}

/* The kernel is asked where it must know: at the end, and where data and holes are. */
static long seek(const struct leat_syscall *c, struct leat_fd *r, int whence)
{
	int64_t to = c->a[1];
	uint64_t at;
	long rc;

	do {
		if (!leat_offset_get(r->shared_offset, &at))
			return seek_by_kernel(c);
		if (whence == SEEK_SET) {
			rc = to;
		} else if (whence == SEEK_CUR) {
			if (__builtin_add_overflow((int64_t)at, to, &rc))
				return -EOVERFLOW;
		} else {
			await_writes(r);
			rc = leat_as_is(c);
			if (rc < 0)
				return rc;
		}
		if (rc < 0 || (uint64_t)rc > LEAT_OFFSET_VALUE)
			return -EINVAL;
	} while (!leat_offset_move(r->shared_offset, at, (uint64_t)rc));
	return rc;
}

long leat_hook_lseek(const struct leat_syscall *c)
{
	int fd = (int)c->a[0], whence = (int)c->a[2];
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_file_hold hold = {0};
	long rc;

	if (!r)
		return LEAT_PASS;
	if (r->kind == LEAT_KIND_DIR)
		return leat_dir_seek(fd, c->a[1], whence);
	if (whence != SEEK_SET && whence != SEEK_CUR) {
		rc = leat_wait_whole(fd);
		if (rc)
			return rc;
		rc = leat_window_acquire(r, fd, &hold);
		if (rc)
			return rc;
	}
	rc = seek(c, r, whence);
	leat_file_release(&hold, 0);
	if (rc < 0)
		return rc;
	if (r->kind == LEAT_KIND_CONSUMER)
		leat_note_read(fd, (uint64_t)rc, 0, 0);
	else if (r->kind == LEAT_KIND_PUBLISHER && !(whence == SEEK_CUR && c->a[1] == 0))
		moved(r, fd, rc);
	return rc;
}

/* The daemon must have taken back what was announced beyond `length`, and know of the hole before
 * it, before the next write announces anew. */
static void report_length(const struct leat_fd *r, uint64_t length, uint64_t size)
{
	const struct leat_msg_truncated truncated = {.h.type = LEAT_MSG_TRUNCATED,
						     .slot = r->slot,
						     .same = length == size,
						     .ofd = r->ofd,
						     .length = length};
	const struct leat_msg sync = {.type = LEAT_MSG_SYNC};

	leat_client_report(&truncated.h);
	if (r->kind == LEAT_KIND_PUBLISHER)
		leat_client_ask(&sync, NULL);
}

static int check_cut(const struct leat_fd *r, struct leat_shm_file *f, uint64_t length,
		     uint64_t size)
{
	const uint32_t code = leat_publisher_check_length(f, length, size);

	return code ? leat_client_violation(code, r->slot, length, 0) : 0;
}

/* Make the call that gives the file `length` bytes. */
static long resize(const struct leat_syscall *c, int fd, uint64_t length)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;
	uint64_t size;
	bool cuts;
	long rc;

	if (!f || (r->kind != LEAT_KIND_PRODUCER && r->kind != LEAT_KIND_PUBLISHER))
		return LEAT_PASS;
	rc = leat_window_truncate_now(r, fd);
	if (rc)
		return rc;
	size = leat_window_length(r, fd);
	cuts = r->kind == LEAT_KIND_PUBLISHER && length < size;
	if (cuts)
		leat_shm_rewrite_begin(f, (struct leat_range){length, UINT64_MAX});
	rc = check_cut(r, f, length, size);
	/* Either way an offset may now lie beyond the end, or a hole is left. */
	if (!rc && r->kind == LEAT_KIND_PUBLISHER && length != size)
		leat_shm_mark_sparse(f);
	leat_fd_set_flags(r, LEAT_FD_UNSURE);
	if (!rc)
		rc = leat_space_retry(c, fd, length);
	if (cuts)
		leat_shm_rewrite_end(f, (struct leat_range){length, UINT64_MAX});
	/* What others write beyond it afterwards is cut off in a batch. */
	if (!rc && (length != size || !length || leat_shm_flags(f) & LEAT_SHM_SHARED))
		report_length(r, length, size);
	return rc;
}

long leat_hook_ftruncate(const struct leat_syscall *c)
{
	return c->a[1] < 0 ? LEAT_PASS : resize(c, (int)c->a[0], (uint64_t)c->a[1]);
}

static long allocate(const struct leat_syscall *c)
{
	int fd = (int)c->a[0], mode = (int)c->a[1];
	uint64_t end = (uint64_t)c->a[2] + (uint64_t)c->a[3];
	struct leat_fd *r = leat_fd_get(fd);
	int rc;

	if (!r || (r->kind != LEAT_KIND_PRODUCER && r->kind != LEAT_KIND_PUBLISHER))
		return LEAT_PASS;
	rc = leat_window_truncate_now(r, fd);
	if (rc)
		return rc;
	leat_before_change(r);
	if (mode & ~FALLOC_FL_KEEP_SIZE) { /* holes, zeros, shifts: bytes that exist change */
		rc = leat_before_write(fd, c->a[2], (uint64_t)c->a[3]);
		if (rc)
			return rc;
		leat_report_written(r, (uint64_t)c->a[2], (uint64_t)c->a[3]);
	}
	if (mode & FALLOC_FL_KEEP_SIZE || end <= leat_window_length(r, fd))
		return leat_space_retry(c, fd, (uint64_t)c->a[3]);
	return resize(c, fd, end);
}

/* A tmpfs cannot write zeros over a range, but take it away and allocate it anew. */
long leat_hook_fallocate(const struct leat_syscall *c)
{
	struct leat_syscall anew = *c;
	long rc = allocate(c);

	if (rc != -EOPNOTSUPP || (c->a[1] & ~FALLOC_FL_KEEP_SIZE) != FALLOC_FL_ZERO_RANGE)
		return rc;
	rc = raw(SYS_fallocate, c->a[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, c->a[2],
		 c->a[3]);
	anew.a[1] &= FALLOC_FL_KEEP_SIZE;
	return rc ? rc : allocate(&anew);
}

long leat_hook_truncate(const struct leat_syscall *c)
{
	struct leat_target target = {.op = LEAT_OP_TRUNCATE,
				     .dirfd = AT_FDCWD,
				     .path = (const char *)c->a[0],
				     .length = (uint64_t)c->a[1]};
	struct leat_resolved resolved;
	long rc;

	if (c->a[1] < 0)
		return -EINVAL;
	rc = leat_resolve(&resolved, &target);
	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	return rc ? rc
		  : leat_resolved_changed(
			    &resolved, raw(SYS_truncate, leat_resolved_path(&resolved), c->a[1]));
}
