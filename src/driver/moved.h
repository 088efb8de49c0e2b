/* Bytes that a step moves, as the samples of the run see them. */
#ifndef LEAT_DRIVER_MOVED_H
#define LEAT_DRIVER_MOVED_H

#include "timeline/result.h"
#include "sched/achieved.h"

#include <sys/types.h>

/* One launch of a step. */
struct leat_moved {
	struct leat_achieved_bytes before;   /* what the step's counters said when it began, */
	struct leat_achieved_bytes reported; /* and what was reported of it so far */
	uint64_t looked_ns;
};

/* The launch begins; `now`: the step's counters. */
void leat_moved_begin(struct leat_moved *m, const struct leat_counters *now, uint64_t now_ns);

/* What it has moved since the last look: bytes of files that leat serves by its counters, or, if
 * that is more, what the kernel has counted for its process `pid` (which may have ended, but not
 * been reaped) and storage. *since_ns: that look. */
struct leat_achieved_bytes leat_moved_look(struct leat_moved *m, const struct leat_counters *now,
					   pid_t pid, uint64_t now_ns, uint64_t *since_ns);

#endif
