/* How long moving bytes takes, for the timeline of a run. A look at the clock costs as much as a
 * small read: large operations are all timed, of small ones one in many, which then stands for
 * all of them. Any thread, async-signal-safe. */
#ifndef LEAT_PRELOAD_CONNECTION_TIMING_H
#define LEAT_PRELOAD_CONNECTION_TIMING_H

#include "preload/core/clock.h"

#include <stdint.h>

enum {
	LEAT_TIMED_BYTES = 256 << 10, /* from here on each operation is timed, */
	LEAT_TIMED_ONE_IN = 64,       /* below one in so many */
};

/* An operation that moves bytes. */
struct leat_timing {
	uint64_t since_ns;
	uint32_t weight; /* so many operations it stands for; 0: it is not timed */
};

/* Before and after an operation of `length` bytes, the `number`th of its kind; `moved` as the
 * kernel returned it. */
static inline void leat_timing_begin(struct leat_timing *t, uint64_t length, uint64_t number)
{
	t->weight = length >= LEAT_TIMED_BYTES        ? 1
		    : number % LEAT_TIMED_ONE_IN == 0 ? LEAT_TIMED_ONE_IN
						      : 0;
	t->since_ns = t->weight ? leat_now_ns() : 0;
}

void leat_timing_note(const struct leat_timing *t);

static inline void leat_timing_end(const struct leat_timing *t, int64_t moved)
{
	if (t->weight && moved > 0)
		leat_timing_note(t);
}

#endif
