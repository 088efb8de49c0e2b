/* What a step reads and writes is held to so many bytes a second, all its processes together: a
 * token bucket in the shared segment. The daemon sets it before there are clients; whoever
 * has moved bytes takes as many tokens, and sleeps until they are there. So an operation of any
 * size takes its time, as on a slow device, and what was slept too little is slept later. */
#ifndef LEAT_SHM_LIMIT_H
#define LEAT_SHM_LIMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What may be moved at once after a pause: so much time's worth. */
#define LEAT_LIMIT_BURST_NS UINT64_C(10000000)

struct leat_shm_limit {
	_Atomic uint64_t rate;         /* bytes a second; 0: none */
	_Atomic uint64_t full_ns;      /* when the bucket will be, or was, even: CLOCK_MONOTONIC */
	_Atomic uint64_t throttled_ns; /* slept for it, summed over all threads */
	uint64_t pad[5];
};
_Static_assert(sizeof(struct leat_shm_limit) == 64, "one cache line a step");

/* Takes `bytes` tokens at `now_ns`; when the caller may go on, CLOCK_MONOTONIC, at most `now_ns` if
 * at once. Any thread and process, async-signal-safe. */
uint64_t leat_limit_take(struct leat_shm_limit *l, uint64_t bytes, uint64_t now_ns);

/* So many bytes were moved: sleep as long as the limit, if there is one, says. No signal cuts it
 * short, as on a slow disk. Any thread and process, async-signal-safe; errno is kept. */
void leat_limit_hold(struct leat_shm_limit *l, uint64_t moved);

/* Is there one? */
static inline bool leat_limit_is_set(struct leat_shm_limit *l)
{
	return atomic_load_explicit(&l->rate, memory_order_relaxed) != 0;
}

#endif
