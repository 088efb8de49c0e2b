#include "preload/connection/timing.h"

#include "preload/connection/client.h"
#include "preload/core/clock.h"
#include "shm/state.h"

/* A small operation that took so long was interrupted by others: it stands for itself only. */
#define ODD_NS 100000u

void leat_timing_note(const struct leat_timing *t)
{
	uint64_t ns = leat_now_ns() - t->since_ns;

	leat_shm_count(&leat_client_step()->copy_ns, ns > ODD_NS ? ns : ns * t->weight);
}
