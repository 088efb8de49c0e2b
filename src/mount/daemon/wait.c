/* Waiting for what the daemon or a file's record will say. */
#include "mount/daemon/wait.h"
#include "mount/callers/caller.h"

#include "client/consumer.h"
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

static struct leat_mount_call *call_of(const struct leat_awaiter *a)
{
	return ((const struct leat_mount_awaiter *)a)->call;
}

static int ask(struct leat_awaiter *a, const struct leat_msg *question, uint32_t *seq)
{
	return leat_channel_ask(leat_mount_channel(call_of(a)), question, seq);
}

static int sleep_on(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t seq)
{
	const uint64_t since = leat_mount_now_ns();
	int rc;

	do
		rc = sleep_once(call_of(a), f, seq, UINT64_MAX, NULL, SLICE_NS);
	while (!rc && f && leat_shm_seq(f) == seq && leat_mount_now_ns() - since < SECOND);
	return rc;
}

static int sleep_for_bytes(struct leat_awaiter *a, const struct leat_byte_sleep *s)
{
	return sleep_once(call_of(a), s->f, s->seq, s->wake_at, s->parts, s->timeout_ns);
}

void leat_mount_awaiter_init(struct leat_mount_awaiter *a, struct leat_mount_call *call)
{
	*a = (struct leat_mount_awaiter){.wait = {.shm = call->m->shm,
						  .step = leat_mount_step(call),
						  .again_ns = SECOND,
						  .now_ns = leat_mount_now_ns,
						  .ask = ask,
						  .sleep = sleep_on,
						  .sleep_for_bytes = sleep_for_bytes},
					 .call = call};
}

int leat_mount_sleep(struct leat_mount_call *call, uint32_t slot, uint32_t seq)
{
	struct leat_mount_awaiter a;

	leat_mount_awaiter_init(&a, call);
	return leat_await_change(&a.wait, slot, seq);
}

int leat_mount_await_whole(struct leat_mount_call *call, uint32_t slot)
{
	struct leat_mount_awaiter a;

	leat_mount_awaiter_init(&a, call);
	return leat_await_whole(&a.wait, slot);
}

int leat_mount_await_actions(struct leat_mount_call *call, uint32_t slot, uint64_t ofd, bool closed)
{
	struct leat_mount_awaiter a;

	leat_mount_awaiter_init(&a, call);
	return leat_await_actions(&a.wait, slot, ofd, closed);
}

void leat_mount_cancel(struct leat_mount_call *call)
{
	leat_channel_sync(leat_mount_channel(call));
}

int leat_mount_wait_covered(struct leat_mount_call *call, uint32_t slot, uint64_t offset,
			    uint64_t length, bool *final)
{
	struct leat_shm_file *f = leat_mount_file(call, slot);
	struct leat_mount_awaiter a;
	int rc;

	*final = !f;
	if (!f)
		return 0;
	leat_mount_awaiter_init(&a, call);
	rc = leat_consumer_await(&a.wait, f, slot, offset, length);
	if (a.wait.asked)
		leat_mount_cancel(call);
	*final = rc == LEAT_SHM_FINAL;
	return rc < 0 ? rc : 0;
}
