#include "client/consumer.h"

#include <errno.h>

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

/* A reader that has caught up waits for so much more, or so long: a wake-up for each small write
 * would cost both sides more than the data. */
#define BATCH_BYTES (256u << 10)
#define BATCH_NS (2 * MS)
/* The daemon is asked about longer waits only. */
#define ASK_AFTER_NS (50 * MS)

/* A wait for bytes. */
struct patience {
	uint64_t since; /* 0: has not waited yet */
	uint64_t ask_at;
};

/* What is read, of which file. */
struct wanted {
	struct leat_shm_file *f;
	uint32_t slot;
	uint64_t offset, length;
};

/* 0: look again; LEAT_SHM_THERE: the daemon says that the bytes are. */
static int wait_once(struct leat_awaiter *a, const struct wanted *w, uint32_t seq, bool ask,
		     struct patience *p)
{
	const struct leat_range range = {w->offset, leat_range_end(w->offset, w->length)};
	const bool parts = leat_shm_flags(w->f) & LEAT_SHM_EXTENTS;
	const struct leat_msg_ask_read question = {.h.type = LEAT_MSG_ASK_READ,
						   .slot = w->slot,
						   .offset = w->offset,
						   .length = w->length};
	struct leat_byte_sleep s = {.f = w->f,
				    .seq = seq,
				    .wake_at = range.end,
				    .parts = parts ? &range : NULL,
				    .timeout_ns = SECOND};
	uint64_t now = a->now_ns(), more;
	int rc;

	if (!parts && now < p->since + BATCH_NS) {
		more = leat_shm_frontier(w->f) + BATCH_BYTES;
		s.wake_at = s.wake_at > more ? s.wake_at : more;
		s.timeout_ns = p->since + BATCH_NS - now;
	} else if (!ask && now < p->ask_at) {
		s.timeout_ns = p->ask_at - now;
	} else {
		p->ask_at = now + a->again_ns;
		rc = a->ask(a, &question.h, &s.seq);
		a->asked = rc == -EAGAIN;
		if (rc && rc != -EAGAIN)
			return rc;
		if (!rc && parts)
			return LEAT_SHM_THERE;
		if (!rc)
			s.timeout_ns = MS; /* the record will say the same in a moment */
	}
	return a->sleep_for_bytes(a, &s);
}

int leat_consumer_await(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t slot,
			uint64_t offset, uint64_t length)
{
	const struct wanted w = {f, slot, offset, length};
	struct patience p = {0};
	uint32_t seq;
	int rc;

	for (;;) {
		seq = leat_shm_seq(f);
		rc = leat_shm_look(a->shm, f, offset, length);
		if (rc && rc != LEAT_SHM_ASK)
			break;
		if (!p.since) {
			p.since = leat_await_begin(a);
			p.ask_at = p.since + ASK_AFTER_NS;
		}
		rc = wait_once(a, &w, seq, rc == LEAT_SHM_ASK, &p);
		if (!rc && a->woken)
			rc = a->woken(a);
		if (rc)
			break;
	}
	if (p.since)
		leat_await_end(a, p.since);
	return rc;
}

int leat_consumer_is_whole(struct leat_shm_file *f)
{
	const uint32_t flags = f ? leat_shm_flags(f) : LEAT_SHM_COMMITTED;

	if (flags & LEAT_SHM_FAILED)
		return -EIO;
	return !!(flags & LEAT_SHM_COMMITTED);
}

bool leat_consumer_trusted_early_size(struct leat_shm_file *f, uint32_t slot, uint64_t seen,
				      uint64_t read_end, struct leat_msg_early_size *report)
{
	if (!f || read_end > seen)
		return false;
	if (leat_shm_flags(f) & LEAT_SHM_COMMITTED && leat_shm_size(f) <= seen)
		return false;
	*report = (struct leat_msg_early_size){
		.h.type = LEAT_MSG_EARLY_SIZE, .slot = slot, .read_end = read_end, .size = seen};
	return true;
}
