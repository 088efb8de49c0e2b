#include "preload/core/clock.h"

#include "preload/core/call.h"
#include "shm/word.h"

#define US UINT64_C(1000) /* in ns */
#define MS (1000 * US)
#define SECOND (1000 * MS)

uint64_t leat_now_ns(void)
{
	struct timespec t;

	raw(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Going to sleep and being woken takes longer than most answers of the daemon. But whoever has
 * given the processor to somebody with work to do gets it back late, and is not woken for the
 * answer: then it is better to sleep, for a while. */
#define SPIN_NS (50 * US)
#define BUSY_NS (10 * US)
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
