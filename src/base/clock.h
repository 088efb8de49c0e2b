/* Time that only goes forward. */
#ifndef LEAT_BASE_CLOCK_H
#define LEAT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC: the same origin in every process of the
 * machine. Async-signal-safe. */
static inline uint64_t leat_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
