/* Waiting on shared memory. A wait runs signal handlers and goes on; a handler that never comes
 * back leaves nothing behind but a statistic. */
#include "preload/connection/client.h"
#include "preload/core/clock.h"
#include "preload/core/process.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

uint64_t leat_wait_begin(void)
{
	leat_shm_count(&leat_client_step()->waiting, 1);
	return leat_now_ns();
}

void leat_wait_end(uint64_t since)
{
	struct leat_shm_step *step = leat_client_step();

	leat_shm_count(&step->waiting, (uint64_t)-1);
	leat_shm_count(&step->wait_ns, leat_now_ns() - since);
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
	uint64_t since = leat_wait_begin();
	int rc = 0;

	if (f) { /* an open may go on at the first byte, which the producer publishes by itself */
		uint64_t wake_at = leat_shm_frontier(f) ? UINT64_MAX : 1;

		spin_slot(f, seq, wake_at);
		rc = leat_shm_wait(f, seq, wake_at, SECOND);
	} else /* a vfork child that has let go of the segment, or a name without a record */
		leat_sleep(10 * MS);
	leat_wait_end(since);
	if (leat_cancel_is_due())
		return -EINTR;
	return rc == -ETIMEDOUT && !leat_client_is_alive() ? -EIO : 0;
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
	const struct leat_server_info *w = leat_server_known();

	if (!w || !w->acts || !slot || !ofd)
		return 0;
	return leat_wait_call(LEAT_WIRE_ACTED, slot, closed, ofd);
}
