/* What a program's reads say of it: that it trusted a size seen early, or took a version. */
#include "preload/fd/reading.h"

#include "client/reading.h"
#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/fd/offset.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <unistd.h>

/* A DROP is sent so often, in bytes. */
#define DROP_EVERY (UINT64_C(2) << 20)

static void read_up_to(struct leat_fd *r, uint64_t end)
{
	const struct leat_msg_drop drop = {
		.h.type = LEAT_MSG_DROP, .slot = r->slot, .read_end = end};

	if (!leat_fd_has(r, LEAT_FD_DROP) || end < r->drop_end + DROP_EVERY)
		return;
	r->drop_end = end;
	leat_client_report(&drop.h);
}

void leat_note_read_by(struct leat_fd *r, uint64_t offset, uint64_t length, uint64_t asked)
{
	uint64_t end = offset + length;

	if (r->kind != LEAT_KIND_CONSUMER)
		return;
	if (leat_fd_has(r, LEAT_FD_SIZE) &&
	    leat_read_trusts_size(r->size_seen, r->read_end, offset, asked))
		leat_fd_set_flags(r, LEAT_FD_TRUSTED);
	if (length && end > r->read_end)
		r->read_end = end;
	read_up_to(r, end);
}

void leat_note_read(int fd, uint64_t offset, uint64_t length, uint64_t asked)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (r)
		leat_note_read_by(r, offset, length, asked);
}

void leat_note_mapped(int fd, uint64_t offset, uint64_t length)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (!r || r->kind != LEAT_KIND_CONSUMER)
		return;
	if (leat_fd_has(r, LEAT_FD_SIZE) && leat_map_trusts_size(r->size_seen, offset, length)) {
		leat_fd_set_flags(r, LEAT_FD_TRUSTED);
		length = r->size_seen - offset;
	}
	leat_note_read(fd, offset, length, 0);
}

/* Where the number is by which formats are told apart. */
#define MAGIC_BYTES 512u

static void report_read(const struct leat_fd *r, enum leat_read how, bool partly)
{
	const struct leat_msg_read read = {.h.type = LEAT_MSG_READ,
					   .ofd = r->ofd,
					   .how = how,
					   .partly = partly,
					   .end = r->glance.end};

	leat_client_report(&read.h);
}

/* What is all that there is yet may be all. */
static void note_look(struct leat_fd *r, bool grows)
{
	bool few = r->glance.end <= MAGIC_BYTES;

	if (!r->glance.end)
		return;
	grows = grows && r->glance.end >= leat_shm_frontier(leat_client_file(r->slot));
	if (!grows && leat_fd_has(r, LEAT_FD_GLANCED) && few == !!leat_fd_has(r, LEAT_FD_LOOKED))
		return;
	leat_fd_clear_flags(r, LEAT_FD_LOOKED);
	leat_fd_set_flags(r, LEAT_FD_GLANCED | (few ? LEAT_FD_LOOKED : 0));
	report_read(r, few ? LEAT_READ_LOOK : LEAT_READ_PART, grows);
}

/* Where a read of `n` bytes at the descriptor's own offset began. */
static uint64_t began(const struct leat_fd *r, int fd, uint64_t n)
{
	uint64_t end;
	long at;

	if (leat_offset_get(r->shared_offset, &end))
		return end > n ? end - n : 0;
	at = raw(SYS_lseek, fd, 0, SEEK_CUR);
	return at > (long)n ? (uint64_t)at - n : 0;
}

int64_t leat_note_taken(int fd, int64_t n, uint64_t asked, int64_t offset)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f;
	uint64_t from, size;

	if (!leat_fd_is_unread(r) || n < 0)
		return n;
	f = leat_client_file(r->slot);
	size = f && leat_shm_flags(f) & LEAT_SHM_COMMITTED ? leat_shm_size(f) : UINT64_MAX;
	from = offset >= 0 ? (uint64_t)offset : began(r, fd, (uint64_t)n);
	if (!leat_glance_exceeds(&r->glance, from, (uint64_t)n, asked, size)) {
		note_look(r, f && size == UINT64_MAX);
		return n;
	}
	leat_fd_set_flags(r, LEAT_FD_READ);
	report_read(r, LEAT_READ_ALL, false);
	return n;
}

void leat_note_size(int fd, uint64_t size)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f;

	if (!r || r->kind != LEAT_KIND_CONSUMER)
		return;
	f = leat_client_file(r->slot);
	if (!f)
		return;
	if (leat_shm_flags(f) & LEAT_SHM_COMMITTED && leat_shm_size(f) <= size) {
		leat_fd_clear_flags(r, LEAT_FD_SIZE | LEAT_FD_TRUSTED);
		return;
	}
	r->size_seen = size;
	leat_fd_set_flags(r, LEAT_FD_SIZE);
}
