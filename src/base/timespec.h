/* Moments as the kernel has them, of files above all. */
#ifndef LEAT_BASE_TIMESPEC_H
#define LEAT_BASE_TIMESPEC_H

#include <stdbool.h>
#include <time.h>

static inline bool leat_timespec_is_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static inline bool leat_timespec_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

#endif
