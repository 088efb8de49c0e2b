/* Waiting for bytes of a file that still grows. */
#include "preload/fd/bytes.h"

#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/core/clock.h"
#include "preload/core/process.h"
#include "preload/fd/migrate.h"
#include "preload/fd/table.h"
#include "shm/extents.h"
#include "shm/state.h"
#include "wire/wire.h"

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

/* A reader that has caught up waits for so much more, or so long: a wake-up for
 * each small write would cost both sides more than the data. */
#define BATCH_BYTES (256u << 10)
#define BATCH_NS (2 * MS)
/* Short waits are nobody's business; longer ones are told to the daemon. */
#define ASK_AFTER_NS (50 * MS)

/* A wait for bytes. */
struct patience {
	uint64_t since;   /* 0: has not waited yet */
	uint64_t batched; /* end of the time in which more than needed is waited for; 0: over */
	bool asked;       /* the daemon knows */
};

/* What is read, of which file. */
struct wanted {
	struct leat_shm_file *f;
	uint32_t slot;
	uint64_t offset, length;
};

/* 0: look again; LEAT_SHM_THERE: the daemon says that the bytes are. */
static int sleep_once(const struct wanted *w, uint32_t seq, bool ask, struct patience *p)
{
	const struct leat_range range = {w->offset, leat_range_end(w->offset, w->length)};
	const bool parts = leat_shm_flags(w->f) & LEAT_SHM_EXTENTS;
	uint64_t now = leat_now_ns(), wake_at = range.end, timeout = SECOND;
	int rc;

	if (!p->since) {
		p->since = now;
		p->batched = now + BATCH_NS;
	}
	if (!parts && p->batched > now) {
		uint64_t more = leat_shm_frontier(w->f) + BATCH_BYTES;

		wake_at = wake_at > more ? wake_at : more;
		timeout = p->batched - now;
	} else if (!ask && !p->asked && now - p->since < ASK_AFTER_NS) {
		timeout = ASK_AFTER_NS - (now - p->since);
	} else {
		rc = leat_client_ask(LEAT_CALL_READ, w->slot, w->offset, w->length, &seq);
		p->asked = rc == -EAGAIN;
		if (rc != -EAGAIN && rc)
			return rc;
		if (!rc && parts)
			return LEAT_SHM_THERE;
		if (!rc)
			timeout = MS; /* the record will say the same in a moment */
	}
	rc = parts ? leat_shm_wait_range(w->f, seq, &range, timeout)
		   : leat_shm_wait(w->f, seq, wake_at, timeout);
	if (leat_cancel_is_due())
		return -EINTR;
	if (rc == -ETIMEDOUT && timeout == SECOND && !leat_client_is_alive())
		return -EIO;
	return 0;
}

/* Whoever waits for long would keep the memory of what the file was before it was moved. */
static int follow_meanwhile(int fd, struct patience *p)
{
	const struct leat_fd *r = leat_fd_get(fd);

	if (!r || !r->slot || !leat_has_left(r, r->home))
		return 0;
	p->asked = false; /* the daemon takes what comes next for the end of the wait */
	return leat_migrate(fd, false);
}

int leat_wait_covered(int fd, uint32_t slot, uint64_t offset, uint64_t length, bool *final)
{
	const struct leat_server_info *server = leat_server_known();
	const struct wanted w = {leat_client_file(slot), slot, offset, length};
	struct patience p = {0};
	uint64_t since = 0;
	uint32_t seq;
	int rc;

	*final = !w.f;
	if (!w.f)
		return 0;
	for (;;) {
		seq = leat_shm_seq(w.f);
		rc = leat_shm_look(server->shm, w.f, offset, length);
		if (rc && rc != LEAT_SHM_ASK)
			break;
		if (!since)
			since = leat_wait_begin();
		rc = sleep_once(&w, seq, rc == LEAT_SHM_ASK, &p);
		if (!rc)
			rc = follow_meanwhile(fd, &p);
		if (rc)
			break;
	}
	if (since)
		leat_wait_end(since);
	if (p.asked && rc > 0) /* takes this wait off the daemon's list */
		leat_client_ask(LEAT_CALL_READ, slot, offset, length, &seq);
	*final = rc == LEAT_SHM_FINAL;
	return rc < 0 ? rc : 0;
}

bool leat_still_there(const struct leat_fd *r, uint64_t offset)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	if (!f || offset >= leat_shm_dropped(f))
		return true;
	leat_client_violation(LEAT_VIOLATION_READ_AGAIN, r->slot, offset, 0);
	return false;
}

int leat_wait_whole(int fd)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f;
	uint32_t flags;
	int rc;

	if (!r || r->kind != LEAT_KIND_CONSUMER)
		return 0;
	f = leat_client_file(r->slot);
	flags = f ? leat_shm_flags(f) : LEAT_SHM_COMMITTED;
	if (flags & LEAT_SHM_FAILED)
		return -EIO;
	if (flags & LEAT_SHM_COMMITTED)
		return 0;
	rc = leat_wait_call(LEAT_CALL_WHOLE, r->slot, 0, 0);
	return rc ? rc : leat_migrate_first(fd);
}

/* How much can be read at `offset`, where something can. */
static int64_t there_at(struct leat_shm_file *f, int64_t offset)
{
	struct leat_range found;

	if (leat_shm_extent(leat_server_known()->shm, f, (uint64_t)offset, &found) != 1)
		return 1;
	return (int64_t)(found.end - (uint64_t)offset);
}

int64_t leat_readable(int fd, int64_t offset, int64_t length, bool *grows)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f;
	int64_t there;
	bool final;
	int rc;

	*grows = false;
	if (!r || r->kind != LEAT_KIND_CONSUMER || length <= 0)
		return length;
	f = leat_client_file(r->slot);
	rc = leat_wait_covered(fd, r->slot, (uint64_t)offset, 1, &final);
	if (rc)
		return rc;
	if (!leat_still_there(r, (uint64_t)offset))
		return -EIO;
	if (final || !f)
		return length;
	*grows = true;
	there = there_at(f, offset);
	length = there < length ? there : length;
	leat_shm_about_to_read(f, (uint64_t)offset, (uint64_t)length);
	return length;
}
