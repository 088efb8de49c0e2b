/* The scheduler on machines that are simulated: a workload on resources, with congestion. The same
 * input gives the same result. Pure: no I/O, no clock. */
#ifndef LEAT_SCHED_SIMULATE_H
#define LEAT_SCHED_SIMULATE_H

#include "model/workload.h"
#include "sched/congestion.h"
#include "sched/sched.h"

/* What became of one group of tasks. */
struct leat_simulated_group {
	const char *name; /* borrowed from the workload */
	bool io;          /* ran as I/O tasks */
	uint64_t tasks;
	double mean_s; /* of a task */
	double begin_s, end_s;
	struct leat_bandwidth bandwidth; /* that it ran with */
	enum leat_sched_phase phase;
	unsigned constraint_mbps; /* the last */
	uint64_t learned_from;    /* tasks */
	double learned_s; /* when its learning was over; 0: it did not learn, or not to the end */
	struct leat_sched_epoch *epochs; /* owned */
	size_t n_epochs;
	struct leat_sched_entry *registry; /* owned */
	size_t n_registry;
};

struct leat_simulated {
	double total_s;
	uint64_t tasks, events;
	double megabytes;                    /* transferred */
	double busy_s;                       /* time that devices were in use, their sum */
	uint64_t at_a_time;                  /* the most transfers on one device */
	double io_s;                         /* mean time of a task that transfers */
	double computing;                    /* share of all computing units that was in use */
	struct leat_simulated_group *groups; /* owned */
	size_t n_groups;
};

/* Run `trial` of the workload. 0 and *out (caller releases); -ENOMEM; -EINVAL when it cannot run,
 * with the reason in `why`. Any thread. */
int leat_simulate(const struct leat_resources *res, const struct leat_workload *w,
		  const struct leat_trial *trial, const struct leat_congestion *model,
		  struct leat_simulated *out, char why[LEAT_SCHED_WHY]);
void leat_simulated_release(struct leat_simulated *out);

#endif
