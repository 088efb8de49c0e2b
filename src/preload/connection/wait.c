/* Asking the daemon about open files, and waiting on shared memory. A wait runs
 * signal handlers and goes on; a handler that never comes back leaves nothing
 * behind but a statistic. */
#include "preload/connection/client.h"
#include "preload/fd/migrate.h"
#include "preload/hooks/hooks.h"
#include "preload/connection/timing.h"
#include "eventlog/call.h"
#include "shm/extents.h"
#include "shm/word.h"

#include <errno.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

/* A reader that has caught up waits for so much more, or so long: a wake-up for
 * each small write would cost both sides more than the data. */
#define BATCH_BYTES (256u << 10)
#define BATCH_NS (2 * MS)
/* Short waits are nobody's business; longer ones are told to the daemon. */
#define ASK_AFTER_NS (50 * MS)

uint64_t leat_now_ns(void)
{
	struct timespec t;

	raw(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

struct leat_shm_file *leat_client_file(uint32_t slot)
{
	const struct leat_world *w = leat_client_known();

	return w && slot && slot < LEAT_SHM_MAX_FILES ? &w->shm->files[slot] : NULL;
}

struct leat_shm_step *leat_client_step(void)
{
	static struct leat_shm_step dummy;
	const struct leat_world *w = leat_client_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return &dummy;
	return &w->shm->steps[w->step];
}

struct leat_shm_limit *leat_client_limit(void)
{
	static struct leat_shm_limit none;
	const struct leat_world *w = leat_client_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return &none;
	return &w->shm->limits[w->step];
}

static int ask_under(struct leat_thread *t, uint32_t call, uint32_t slot, uint64_t offset,
		     uint64_t length, uint32_t *seq)
{
	struct leat_msg_ask *m = (struct leat_msg_ask *)t->msg;
	const struct leat_msg_answer *answer = (const struct leat_msg_answer *)t->msg;
	int rc = leat_client_begin(t, LEAT_MSG_ASK);

	if (rc)
		return rc;
	m->call = call;
	m->slot = slot;
	m->offset = offset;
	m->length = length;
	rc = leat_client_roundtrip(t, LEAT_MSG_ANSWER);
	if (rc)
		return rc;
	*seq = answer->seq;
	return answer->error;
}

int leat_client_ask(uint32_t call, uint32_t slot, uint64_t offset, uint64_t length, uint32_t *seq)
{
	struct leat_guard g;
	int rc = leat_guard_take(&g);

	if (rc)
		return rc;
	rc = ask_under(g.t, call, slot, offset, length, seq);
	leat_guard_release(&g);
	return rc;
}

void leat_client_fact(enum leat_msg_type type, const struct leat_msg_fact *fact)
{
	struct leat_guard g;

	if (leat_guard_take(&g))
		return;
	if (!leat_client_begin(g.t, type)) {
		struct leat_msg_fact *m = (struct leat_msg_fact *)g.t->msg;
		struct leat_msg h = m->h;

		*m = *fact;
		m->h = h;
		leat_client_send(g.t);
	}
	leat_guard_release(&g);
}

int leat_client_violation(uint32_t code, uint32_t slot, uint64_t offset, uint64_t length)
{
	struct leat_msg_fact fact = {
		.slot = slot, .code = code, .offset = offset, .length = length};
	uint32_t seq;

	leat_client_fact(LEAT_MSG_VIOLATED, &fact);
	return leat_client_ask(LEAT_CALL_WRITE, slot, offset, length, &seq) == -EIO ? -EIO : 0;
}

static bool is_alive(void)
{
	struct leat_guard g;
	bool alive;

	if (leat_guard_take(&g))
		return true; /* no memory to look: the next request will tell */
	alive = leat_client_alive(g.t);
	leat_guard_release(&g);
	return alive;
}

static uint64_t wait_begin(void)
{
	leat_shm_count(&leat_client_step()->waiting, 1);
	return leat_now_ns();
}

static void wait_end(uint64_t since)
{
	struct leat_shm_step *step = leat_client_step();

	leat_shm_count(&step->waiting, (uint64_t)-1);
	leat_shm_count(&step->wait_ns, leat_now_ns() - since);
}

/* A small operation that took so long was interrupted by others: it stands for itself only. */
#define ODD_NS (MS / 10)

void leat_timing_note(const struct leat_timing *t)
{
	uint64_t ns = leat_now_ns() - t->since_ns;

	leat_shm_count(&leat_client_step()->copy_ns, ns > ODD_NS ? ns : ns * t->weight);
}

/* Going to sleep and being woken takes longer than most answers of the daemon. But whoever has
 * given the processor to somebody with work to do gets it back late, and is not woken for the
 * answer: then it is better to sleep, for a while. */
#define SPIN_NS (50 * MS / 1000)
#define BUSY_NS (10 * MS / 1000)
#define PAUSE_NS (20 * MS)

bool leat_spin(struct leat_spin *s)
{
	static struct leat_word busy_until;
	uint64_t before = leat_now_ns(), after;

	if (!s->since)
		s->since = before;
	if (before - s->since > SPIN_NS || before < leat_word_get(&busy_until))
		return false;
	raw(SYS_sched_yield);
	after = leat_now_ns();
	if (after - before > BUSY_NS)
		leat_word_set(&busy_until, after + PAUSE_NS);
	return true;
}

/* Until the record says something new: the name may come, or the first byte. */
static void spin_slot(struct leat_shm_file *f, uint32_t seq, uint64_t wake_at)
{
	struct leat_spin spin = {0};

	while (leat_shm_seq(f) == seq && leat_shm_frontier(f) < wake_at && leat_spin(&spin))
		;
}

int leat_wait_slot(uint32_t slot, uint32_t seq)
{
	struct leat_shm_file *f = leat_client_file(slot);
	uint64_t since = wait_begin();
	int rc = 0;

	if (f) { /* an open may go on at the first byte, which the producer publishes by itself */
		uint64_t wake_at = leat_shm_frontier(f) ? UINT64_MAX : 1;

		spin_slot(f, seq, wake_at);
		rc = leat_shm_wait(f, seq, wake_at, SECOND);
	} else /* a vfork child that has let go of the segment, or a name without a record */
		leat_nap(10 * MS);
	wait_end(since);
	if (leat_cancel_is_due())
		return -EINTR;
	return rc == -ETIMEDOUT && !is_alive() ? -EIO : 0;
}

int leat_wait_call(uint32_t call, uint32_t slot, uint64_t offset, uint64_t length)
{
	uint32_t seq = 0;

	for (;;) {
		int rc = leat_client_ask(call, slot, offset, length, &seq);

		if (rc == -EAGAIN)
			rc = leat_wait_slot(slot, seq);
		else
			return rc;
		if (rc)
			return rc;
	}
}

int leat_wait_acted(uint32_t slot, uint64_t ofd, bool closed)
{
	const struct leat_world *w = leat_client_known();

	if (!w || !w->acts || !slot || !ofd)
		return 0;
	return leat_wait_call(LEAT_WIRE_ACTED, slot, closed, ofd);
}

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
	if (rc == -ETIMEDOUT && timeout == SECOND && !is_alive())
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
	return leat_follow(fd, false);
}

int leat_wait_covered(int fd, uint32_t slot, uint64_t offset, uint64_t length, bool *final)
{
	const struct leat_world *world = leat_client_known();
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
		rc = leat_shm_look(world->shm, w.f, offset, length);
		if (rc && rc != LEAT_SHM_ASK)
			break;
		if (!since)
			since = wait_begin();
		rc = sleep_once(&w, seq, rc == LEAT_SHM_ASK, &p);
		if (!rc)
			rc = follow_meanwhile(fd, &p);
		if (rc)
			break;
	}
	if (since)
		wait_end(since);
	if (p.asked && rc > 0) /* takes this wait off the daemon's list */
		leat_client_ask(LEAT_CALL_READ, slot, offset, length, &seq);
	*final = rc == LEAT_SHM_FINAL;
	return rc < 0 ? rc : 0;
}
