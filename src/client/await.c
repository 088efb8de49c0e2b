#include "client/await.h"

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
	const uint64_t since = leat_await_begin(a);
	int rc = a->sleep(a, leat_shm_file_of(a->shm, slot), seq);

	leat_await_end(a, since);
	return rc;
}

/* Ask until the answer is not to ask again. */
static int await(struct leat_awaiter *a, const struct leat_msg *question, uint32_t slot)
{
	uint32_t seq = 0;
	int rc;

	do {
		rc = a->ask(a, question, &seq);
		if (rc != -EAGAIN)
			return rc;
		rc = leat_await_change(a, slot, seq);
	} while (!rc);
	return rc;
}

int leat_await_whole(struct leat_awaiter *a, uint32_t slot)
{
	const struct leat_msg_ask_whole m = {.h.type = LEAT_MSG_ASK_WHOLE, .slot = slot};

	return await(a, &m.h, slot);
}

int leat_await_actions(struct leat_awaiter *a, uint32_t slot, uint64_t ofd, bool closed)
{
	const struct leat_msg_ask_actions m = {
		.h.type = LEAT_MSG_ASK_ACTIONS, .slot = slot, .closed = closed, .ofd = ofd};

	return await(a, &m.h, slot);
}

int leat_await_space(struct leat_awaiter *a, uint32_t slot, uint64_t length, uint64_t *attempt)
{
	const struct leat_msg_ask_space m = {.h.type = LEAT_MSG_ASK_SPACE,
					     .slot = slot,
					     .attempt = (*attempt)++,
					     .length = length};
	uint32_t seq;
	int rc = a->ask(a, &m.h, &seq);

	if (rc != -EAGAIN)
		return rc;
	rc = leat_await_change(a, slot, seq);
	return rc ? rc : 1;
}
