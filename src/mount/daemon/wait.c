/* Waiting for what the daemon or a file's record will say. */
#include "mount/daemon/wait.h"
#include "mount/callers/caller.h"

#include "eventlog/call.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

/* A sleeper looks so often whether its caller is to die: the kernel tells only once that a signal
 * came. */
#define SLICE_NS (100 * MS)

/* As in the interception library: a reader that has caught up waits for so much more, or so long,
 * and only long waits are told to the daemon. */
#define BATCH_BYTES (256u << 10)

#define BATCH_NS (2 * MS)

#define ASK_AFTER_NS (50 * MS)

bool leat_mount_call_is_stopped(const struct leat_mount_call *call)
{
	struct pollfd p = {.fd = call->m->peer, .events = POLLIN};

	if (call->req)
		return fuse_req_interrupted(call->req) && leat_caller_stopped(call->tid);
	return p.fd >= 0 && poll(&p, 1, 0) > 0; /* the program's process is gone */
}

static void wake(fuse_req_t req, void *arg)
{
	(void)req;
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
}

/* 0 look again, -EINTR, -EIO. `part`: what is waited for in a file with EXTENTS, or NULL. */
static int sleep_once(struct leat_mount_call *call, struct leat_shm_file *f, uint32_t seq,
		      uint64_t wake_at, const struct leat_range *part, uint64_t timeout_ns)
{
	const struct timespec t = {.tv_nsec = 10 * MS};
	pthread_t self = pthread_self();
	int rc = 0;

	if (call->req)
		fuse_req_interrupt_func(call->req, wake, &self);
	timeout_ns = timeout_ns < SLICE_NS ? timeout_ns : SLICE_NS;
	if (f && part)
		rc = leat_shm_wait_range(f, seq, part, timeout_ns);
	else if (f)
		rc = leat_shm_wait(f, seq, wake_at, timeout_ns);
	else
		nanosleep(&t, NULL);
	if (call->req)
		fuse_req_interrupt_func(call->req, NULL, NULL);
	if (rc != 0 && leat_mount_call_is_stopped(call))
		return -EINTR;
	return rc == -ETIMEDOUT && !leat_connection_alive(call->connection) ? -EIO : 0;
}

static uint64_t wait_begin(const struct leat_mount_call *call)
{
	leat_shm_count(&leat_mount_step(call)->waiting, 1);
	return leat_mount_now_ns();
}

static void wait_end(const struct leat_mount_call *call, uint64_t since)
{
	leat_shm_count(&leat_mount_step(call)->waiting, (uint64_t)-1);
	leat_shm_count(&leat_mount_step(call)->wait_ns, leat_mount_now_ns() - since);
}

int leat_mount_sleep(struct leat_mount_call *call, uint32_t slot, uint32_t seq)
{
	struct leat_shm_file *f = leat_mount_file(call, slot);
	uint64_t since = wait_begin(call), wake_at = UINT64_MAX;
	int rc = 0;

	/* An open may go on at the first byte, which the producer publishes by itself. */
	if (f && !leat_shm_frontier(f))
		wake_at = 1;
	do
		rc = sleep_once(call, f, seq, wake_at, NULL, SLICE_NS);
	while (!rc && f && leat_shm_seq(f) == seq && leat_shm_frontier(f) < wake_at &&
	       leat_mount_now_ns() - since < SECOND);
	wait_end(call, since);
	return rc;
}

int leat_mount_wait(struct leat_mount_call *call, uint32_t what, uint32_t slot, uint64_t offset,
		    uint64_t length)
{
	uint32_t seq;
	int rc;

	for (;;) {
		rc = leat_connection_ask(call->connection, what, slot, offset, length, &seq);
		if (rc == -EAGAIN)
			rc = leat_mount_sleep(call, slot, seq);
		else
			return rc;
		if (rc)
			return rc;
	}
}

void leat_mount_cancel(struct leat_mount_call *call)
{
	uint32_t seq;

	leat_connection_ask(call->connection, LEAT_CALL_WRITE, 0, 0, 0, &seq);
}

struct patience {
	uint64_t since;
	uint64_t ask_at;
	bool asked; /* the daemon knows */
};

/* What is read, of which file. */
struct wanted {
	struct leat_shm_file *f;
	uint32_t slot;
	uint64_t offset, length;
};

/* 0: look again; LEAT_SHM_THERE: the daemon says that the bytes are. */
static int wait_once(struct leat_mount_call *call, const struct wanted *w, uint32_t seq, bool ask,
		     struct patience *p)
{
	const struct leat_range range = {w->offset, leat_range_end(w->offset, w->length)};
	const bool parts = leat_shm_flags(w->f) & LEAT_SHM_EXTENTS;
	uint64_t now = leat_mount_now_ns(), wake_at = range.end, timeout = SLICE_NS;
	uint32_t ignored;
	int rc;

	if (!parts && now < p->since + BATCH_NS) {
		uint64_t more = leat_shm_frontier(w->f) + BATCH_BYTES;

		wake_at = wake_at > more ? wake_at : more;
		timeout = p->since + BATCH_NS - now;
	} else if (!ask && now < p->ask_at) {
		timeout = p->ask_at - now;
	} else {
		p->ask_at = now + SECOND;
		rc = leat_connection_ask(call->connection, LEAT_CALL_READ, w->slot, w->offset,
					 w->length, &ignored);
		p->asked = rc == -EAGAIN;
		if (rc && rc != -EAGAIN)
			return rc;
		if (!rc && parts)
			return LEAT_SHM_THERE;
		if (!rc)
			timeout = MS; /* the record will say the same in a moment */
	}
	return sleep_once(call, w->f, seq, wake_at, parts ? &range : NULL, timeout);
}

int leat_mount_wait_covered(struct leat_mount_call *call, uint32_t slot, uint64_t offset,
			    uint64_t length, bool *final)
{
	const struct wanted w = {leat_mount_file(call, slot), slot, offset, length};
	struct patience p = {0};
	uint32_t seq;
	int rc;

	*final = !w.f;
	if (!w.f)
		return 0;
	for (;;) {
		seq = leat_shm_seq(w.f);
		rc = leat_shm_look(call->m->shm, w.f, offset, length);
		if (rc && rc != LEAT_SHM_ASK)
			break;
		if (!p.since) {
			p.since = wait_begin(call);
			p.ask_at = p.since + ASK_AFTER_NS;
		}
		rc = wait_once(call, &w, seq, rc == LEAT_SHM_ASK, &p);
		if (rc)
			break;
	}
	if (p.since)
		wait_end(call, p.since);
	if (p.asked)
		leat_mount_cancel(call);
	*final = rc == LEAT_SHM_FINAL;
	return rc < 0 ? rc : 0;
}
