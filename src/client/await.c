#include "client/await.h"

#include "wire/wire.h"

#include <errno.h>

uint64_t leat_await_begin(const struct leat_awaiter *a)
{
	leat_shm_count(&a->step->waiting, 1);
	return a->now_ns();
}

void leat_await_end(const struct leat_awaiter *a, uint64_t since)
{
	leat_shm_count(&a->step->waiting, (uint64_t)-1);
	leat_shm_count(&a->step->wait_ns, a->now_ns() - since);
}

int leat_await_change(struct leat_awaiter *a, uint32_t slot, uint32_t seq)
{
	struct leat_shm_file *f = leat_shm_file_of(a->shm, slot);
	/* An open may go on at the first byte, which the producer publishes by itself. */
	const uint64_t wake_at = f && !leat_shm_frontier(f) ? 1 : UINT64_MAX;
	const uint64_t since = leat_await_begin(a);
	int rc = a->sleep(a, f, seq, wake_at);

	leat_await_end(a, since);
	return rc;
}

int leat_await(struct leat_awaiter *a, uint32_t call, uint32_t slot, uint64_t offset,
	       uint64_t length)
{
	uint32_t seq = 0;
	int rc;

	do {
		rc = a->ask(a, call, slot, offset, length, &seq);
		if (rc != -EAGAIN)
			return rc;
		rc = leat_await_change(a, slot, seq);
	} while (!rc);
	return rc;
}

int leat_await_space(struct leat_awaiter *a, uint32_t slot, uint64_t length, uint64_t *attempt)
{
	uint32_t seq;
	int rc = a->ask(a, LEAT_WIRE_ROOM, slot, (*attempt)++, length, &seq);

	if (rc != -EAGAIN)
		return rc;
	rc = leat_await_change(a, slot, seq);
	return rc ? rc : 1;
}
