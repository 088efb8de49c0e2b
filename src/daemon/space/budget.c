#include "daemon/space/budget.h"

#define MB (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)
/* Stalls are counted for so long before they say something. */
#define WINDOW_NS (SECOND / 4)

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int64_t leat_budget_free(uint64_t limit_bytes, uint64_t spare_bytes)
{
	return (int64_t)spare_bytes - (int64_t)min(limit_bytes / 8, 1024 * MB);
}

/* Did processes wait for memory for more than a tenth of the time? */
static bool is_pressed(struct leat_budget *b, const struct leat_budget_sight *s)
{
	uint64_t length = s->now_ns - b->window_ns, stalled = s->stalled_us - b->stalled_us;
	bool first = !b->window_ns;

	if (!first && length < WINDOW_NS)
		return false;
	b->window_ns = s->now_ns;
	b->stalled_us = s->stalled_us;
	return !first && stalled * 1000 > length / 10;
}

/* As little as steps can stream through. */
static uint64_t least(const struct leat_budget *b)
{
	uint64_t share = b->most_bytes / 32;

	return min(b->most_bytes, share > 4 * MB ? share : 4 * MB);
}

static uint64_t wanted(struct leat_budget *b, const struct leat_budget_sight *s)
{
	int64_t space = (int64_t)s->used_bytes + s->free_bytes;
	uint64_t bytes = min(b->most_bytes, space > 0 ? (uint64_t)space : 0);

	/* Where files take little it is not they who press. */
	if (is_pressed(b, s) && s->used_bytes > b->most_bytes / 4)
		bytes = min(bytes, s->used_bytes / 4 * 3);
	return bytes > least(b) ? bytes : least(b);
}

void leat_budget_update(struct leat_budget *b, const struct leat_budget_sight *s)
{
	uint64_t most = b->asked_bytes ? b->asked_bytes : s->limit_bytes / 2, bytes;
	bool first = !b->most_bytes;

	b->most_bytes = most;
	bytes = wanted(b, s);
	if (first || bytes < b->now_bytes) {
		b->now_bytes = bytes;
		b->changed_ns = s->now_ns;
	} else if (bytes > b->now_bytes && s->now_ns - b->changed_ns >= SECOND) {
		/* Step by step: what was short may be so again. */
		b->now_bytes = min(bytes, b->now_bytes + most / 8);
		b->changed_ns = s->now_ns;
	}
}
