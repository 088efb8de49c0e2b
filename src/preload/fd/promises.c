/* What consumers have read must not change, but the same bytes once more are no change. */
#include "preload/fd/promises.h"

#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/text.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "shm/extents.h"
#include "shm/state.h"
#include "shm/window.h"
#include "wire/wire.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Are the `length` bytes at `data` what `fd` holds at `offset`? */
static bool same_bytes(int fd, const char *data, uint64_t length, uint64_t offset)
{
	char there[1024];

	while (length) {
		uint64_t part = length < sizeof(there) ? length : sizeof(there);
		long n = raw(SYS_pread64, fd, there, part, offset);

		if (n <= 0 || memcmp(there, data, (size_t)n) != 0)
			return false;
		data += n;
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	return true;
}

/* The same for a descriptor that may be open for writing only. */
static bool writes_same(int fd, const char *data, uint64_t length, uint64_t offset)
{
	char name[LEAT_FD_PATH];
	long reader;
	bool same;

	leat_fd_path(fd, name);
	reader = raw(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	if (reader < 0)
		return false;
	same = same_bytes((int)reader, data, length, offset);
	raw(SYS_close, reader);
	return same;
}

/* Would `data` (asked.end - asked.begin bytes) at `asked` change bytes that a consumer has read?
 * *part: which first. */
static bool changes(int fd, struct leat_shm_file *f, const char *data, struct leat_range asked,
		    struct leat_range *part)
{
	struct leat_shm *shm = leat_server_known()->shm;

	for (struct leat_range left = asked; leat_shm_consumed_part(shm, f, left, part);
	     left.begin = part->end)
		if (!writes_same(fd, data + (part->begin - asked.begin), part->end - part->begin,
				 part->begin))
			return true;
	return false;
}

/* The same of pieces one behind the other; NULL: of `length` bytes that nobody knows. */
static bool changes_consumed(int fd, const struct leat_pieces *p, struct leat_shm_file *f,
			     uint64_t offset, uint64_t length, struct leat_range *part)
{
	struct leat_range asked = {offset, leat_range_end(offset, length)};

	if (!p)
		return leat_shm_consumed_part(leat_server_known()->shm, f, asked, part);
	for (long i = 0; p->v && i < p->n && p->n <= IOV_MAX; i++) {
		asked.end = leat_range_end(asked.begin, p->v[i].iov_len);
		if (changes(fd, f, p->v[i].iov_base, asked, part))
			return true;
		asked.begin = asked.end;
	}
	return false;
}

int leat_report_broken(struct leat_fd *r, uint32_t code, uint64_t offset, uint64_t length)
{
	int rc = leat_client_violation(code, r->slot, offset, length);

	leat_fd_set_flags(r, LEAT_FD_REPORTED);
	return rc;
}

int leat_check_committed(struct leat_fd *r, struct leat_shm_file *f, uint64_t offset,
			 uint64_t length)
{
	if (!(leat_shm_flags(f) & LEAT_SHM_COMMITTED) || !length)
		return 0;
	if (r->kind != LEAT_KIND_PRODUCER && r->kind != LEAT_KIND_PUBLISHER)
		return 0;
	return leat_report_broken(r, LEAT_VIOLATION_AFTER_COMMIT, offset, length);
}

enum { MAX_SLEEPS = 50 };

/* While the kernel's size is ahead, others may have begun to write what is before `offset`, and
 * count as the file's length already: give them a moment. False: it is still missing. */
static bool is_joined(struct leat_shm_file *f, uint64_t offset)
{
	for (int i = 0; i < MAX_SLEEPS && offset > leat_shm_frontier(f); i++)
		leat_sleep(LEAT_SLEEP_NS);
	return offset <= leat_shm_frontier(f);
}

static void check_hole(int fd, const struct leat_fd *r, struct leat_shm_file *f, uint64_t offset)
{
	if (leat_shm_flags(f) & LEAT_SHM_SPARSE || offset <= leat_shm_frontier(f))
		return;
	if (leat_shm_is_ahead(f) ? !is_joined(f, offset) : offset > leat_window_length(r, fd))
		leat_shm_mark_sparse(f);
}

static int64_t offset_of(int fd)
{
	return raw(SYS_lseek, fd, 0, SEEK_CUR);
}

/* What another process has moved the descriptor's offset over meanwhile was its own, and may have
 * been read since: look again. */
int leat_check_range(int fd, struct leat_fd *r, const struct leat_pieces *p, int64_t offset,
		     uint64_t length)
{
	struct leat_shm_file *f = leat_client_file(r->slot);
	const bool positioned = offset >= 0;
	struct leat_range part;

	do {
		if (!positioned)
			offset = offset_of(fd);
		if (offset < 0)
			return 0;
		check_hole(fd, r, f, (uint64_t)offset);
		if (!changes_consumed(fd, p, f, (uint64_t)offset, length, &part))
			return 0;
	} while (!positioned && offset_of(fd) != offset);
	return leat_report_broken(r, LEAT_VIOLATION_REWRITE, part.begin, part.end - part.begin);
}

int leat_before_write(int fd, int64_t offset, uint64_t length)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;
	int64_t at = f && offset < 0 ? offset_of(fd) : offset;
	int rc;

	if (r)
		leat_before_change(r);
	if (!f || at < 0)
		return 0;
	rc = leat_check_committed(r, f, (uint64_t)at, length);
	if (rc || r->kind != LEAT_KIND_PUBLISHER)
		return rc;
	return leat_check_range(fd, r, NULL, offset, length);
}

void leat_fd_report_write(struct leat_fd *r)
{
	const struct leat_msg_wrote wrote = {
		.h.type = LEAT_MSG_WROTE, .slot = r->slot, .ofd = r->ofd};

	leat_fd_clear_flags(r, LEAT_FD_INTACT);
	leat_client_report(&wrote.h);
}
