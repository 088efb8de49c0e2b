/* What the steps do, looked at from time to time, for the timeline. Event loop only. */
#ifndef LEAT_DAEMON_RUN_SAMPLES_H
#define LEAT_DAEMON_RUN_SAMPLES_H

#include "daemon/core/state.h"
#include "daemon/run/track.h"

/* Of one step: what was counted when it was looked at last. */
struct leat_samples {
	uint64_t sampled_ns, seen_in, seen_out, seen_wait, seen_copy;
	uint64_t owed_ns;   /* waiting that is in the timeline, but not counted yet */
	uint32_t wait_file; /* what its calls wait for, by number of the name (milestones.h) */
	uint64_t cpu_ns;    /* of its processes, when it was asked for last */
	struct leat_track track;
};

int leat_samples_init(struct leat_daemon *d);
void leat_samples_release(struct leat_daemon *d);
/* Look at the step now, so that what comes is told apart from what was. */
void leat_step_sample(struct leat_daemon *d, int step);
/* The step has begun to run: look at it from time to time. */
void leat_samples_start(struct leat_daemon *d);
/* So often. */
unsigned leat_samples_interval_ms(const struct leat_daemon *d);
/* CPU time of the step's processes, and of those they have waited for; what others had that are
 * gone is not in it. Never less than before. */
uint64_t leat_step_cpu_ns(struct leat_daemon *d, int step);

#endif
