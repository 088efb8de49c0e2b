/* The clock, and waits that are short. Any thread, async-signal-safe. */
#ifndef LEAT_PRELOAD_CORE_CLOCK_H
#define LEAT_PRELOAD_CORE_CLOCK_H

#include "preload/core/call.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC. */
uint64_t leat_now_ns(void);

/* About what others need who change a file's size or offset, or write a little. */
enum { LEAT_SLEEP_NS = 20000 };

/* Sleep so long (below a second), or until a signal is handled. */
static inline void leat_sleep(uint64_t ns)
{
	const struct timespec t = {.tv_nsec = (long)ns};

	raw(SYS_nanosleep, &t, NULL);
}

/* A wait that mostly is short: true as long as it is worth to look again at once, after others had
 * the processor. Starts with a zeroed *s. */
struct leat_spin {
	uint64_t since; /* 0: not begun */
};
bool leat_spin(struct leat_spin *s);

#endif
