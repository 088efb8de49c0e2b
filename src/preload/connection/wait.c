/* Waiting on shared memory. A wait runs signal handlers and goes on; a handler that never comes
 * back leaves nothing behind but a statistic. */
#include "client/await.h"

#include "preload/connection/client.h"
#include "preload/core/clock.h"
#include "preload/core/process.h"
#include "shm/state.h"

#include <errno.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

static int ask(struct leat_awaiter *a, const struct leat_msg *question, uint32_t *seq)
{
	(void)a;
	return leat_client_ask(question, seq);
}

/* Until the record says something new: the name may come, or the first byte. */
static void spin_slot(struct leat_shm_file *f, uint32_t seq)
{
	struct leat_spin spin = {0};

	while (leat_shm_seq(f) == seq && leat_spin(&spin))
		;
}

/* After a sleep that ended with `rc`; `long_enough` for the daemon to be looked for. */
static int woken_by(int rc, bool long_enough)
{
	if (leat_cancel_is_due())
		return -EINTR;
	return rc == -ETIMEDOUT && long_enough && !leat_client_is_alive() ? -EIO : 0;
}

static int sleep_on(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t seq)
{
	int rc = 0;

	(void)a;
	if (f) {
		spin_slot(f, seq);
		rc = leat_shm_wait(f, seq, UINT64_MAX, SECOND);
	} else /* a vfork child that has let go of the segment, or a name without a record */
		leat_sleep(10 * MS);
	return woken_by(rc, true);
}

static int sleep_for_bytes(struct leat_awaiter *a, const struct leat_byte_sleep *s)
{
	int rc = s->parts ? leat_shm_wait_range(s->f, s->seq, s->parts, s->timeout_ns)
			  : leat_shm_wait(s->f, s->seq, s->wake_at, s->timeout_ns);

	(void)a;
	return woken_by(rc, s->timeout_ns == SECOND);
}

void leat_wait_init(struct leat_awaiter *a)
{
	const struct leat_server_info *w = leat_server_known();

	*a = (struct leat_awaiter){.shm = w ? w->shm : NULL,
				   .step = leat_client_step(),
				   .now_ns = leat_now_ns,
				   .ask = ask,
				   .sleep = sleep_on,
				   .sleep_for_bytes = sleep_for_bytes};
}

int leat_wait_slot(uint32_t slot, uint32_t seq)
{
	struct leat_awaiter a;

	leat_wait_init(&a);
	return leat_await_change(&a, slot, seq);
}

int leat_wait_acted(uint32_t slot, uint64_t ofd, bool closed)
{
	const struct leat_server_info *w = leat_server_known();
	struct leat_awaiter a;

	if (!w || !w->acts || !slot || !ofd)
		return 0;
	leat_wait_init(&a);
	return leat_await_actions(&a, slot, ofd, closed);
}
