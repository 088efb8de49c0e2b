#include "shm/limit.h"

#include "shm/state.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_A_SECOND UINT64_C(1000000000)

/* Without a product that overflows: bytes are below 2^63, rates above 10^6. */
static uint64_t duration(uint64_t bytes, uint64_t rate)
{
	return bytes / rate * NS_A_SECOND + bytes % rate * NS_A_SECOND / rate;
}

uint64_t leat_limit_take(struct leat_shm_limit *l, uint64_t bytes, uint64_t now_ns)
{
	const uint64_t rate = atomic_load_explicit(&l->rate, memory_order_relaxed);
	const uint64_t least = now_ns > LEAT_LIMIT_BURST_NS ? now_ns - LEAT_LIMIT_BURST_NS : 0;
	uint64_t before = atomic_load_explicit(&l->full_ns, memory_order_relaxed), after;

	if (!rate)
		return now_ns;
	do
		after = (before > least ? before : least) + duration(bytes, rate);
	while (!atomic_compare_exchange_weak_explicit(&l->full_ns, &before, after,
						      memory_order_relaxed, memory_order_relaxed));
	return after;
}

/* By the system call: the library has no other way. */
static uint64_t now_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_A_SECOND + (uint64_t)t.tv_nsec;
}

void leat_limit_hold(struct leat_shm_limit *l, uint64_t moved)
{
	const uint64_t now = leat_limit_is_set(l) ? now_ns() : 0;
	const uint64_t until = leat_limit_take(l, moved, now);
	const struct timespec t = {.tv_sec = (time_t)(until / NS_A_SECOND),
				   .tv_nsec = (long)(until % NS_A_SECOND)};
	const int saved = errno;

	if (until <= now)
		return;
	/* libc's clock_nanosleep is a place where threads are cancelled. */
	while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) < 0 &&
	       errno == EINTR)
		;
	errno = saved;
	leat_shm_count(&l->throttled_ns, now_ns() - now);
}
