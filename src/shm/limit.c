#include "shm/limit.h"

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
