/* The steps' counters, read from the daemon's shared segment. */
#ifndef LEAT_CLI_SEGMENT_H
#define LEAT_CLI_SEGMENT_H

#include "control/control.h"
#include "timeline/result.h"

struct leat_segment {
	struct leat_shm *shm; /* owned */
	size_t n_steps;
};

/* Map the segment that came with the hello. 0 or -errno, logged. */
int leat_segment_open(struct leat_segment *s, struct leat_control *control, size_t n_steps);
void leat_segment_close(struct leat_segment *s);

/* Was the daemon started with --enforce, with --sealed? */
void leat_segment_enforced(const struct leat_segment *s, bool *enforced, bool *sealed);

/* Counters of one step; `ctx` is a struct leat_segment. */
void leat_segment_counters(void *ctx, size_t step, struct leat_counters *out);

/* True if a thread of some step waits; `ctx` is a struct leat_segment. */
bool leat_segment_anybody_waits(void *ctx);

#endif
