/* How fast a storage device is for many tasks at a time: a model for the simulator.
 *
 *   X(k) = peak B k / (k + ramp) / (1 + max(0, k - knee) / slope)
 *
 * MB/s of k tasks together on a device of B MB/s, of which each has an equal share. One task cannot
 * keep a device busy (ramp); from some number on they are in each other's way (knee, slope).
 * Source: the mean task times of I/O-aware PyCOMPSs, Fig. 12 and Sec. 3.2; docs/adr/0034. */
#ifndef LEAT_SCHED_CONGESTION_H
#define LEAT_SCHED_CONGESTION_H

#include <stdint.h>

struct leat_congestion {
	double peak;  /* of the bandwidth that is stated: what the device can do */
	double ramp;  /* with so many tasks it gives half of that */
	double knee;  /* up to so many tasks do not congest it */
	double slope; /* with so many more it gives half */
};

/* Calibrated on the SSDs of the paper. */
#define LEAT_CONGESTION_SSD                                                                        \
	((struct leat_congestion){.peak = 1.1, .ramp = 3.5, .knee = 56, .slope = 1300})

/* MB/s of `tasks` at a time together. Any thread. */
double leat_congestion_mbps(const struct leat_congestion *model, double bandwidth_mbps,
			    uint64_t tasks);

#endif
