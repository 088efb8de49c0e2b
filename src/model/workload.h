/* A workload to simulate: groups of tasks, what they do, what they wait for, and the constraints to
 * try them with. */
#ifndef LEAT_MODEL_WORKLOAD_H
#define LEAT_MODEL_WORKLOAD_H

#include "base/diag.h"
#include "model/bandwidth.h"

#include <stdbool.h>
#include <stddef.h>

/* Groups that a group waits for. */
struct leat_groups {
	size_t *v; /* owned; indices */
	size_t n;
};

/* Tasks of one kind. */
struct leat_group {
	char *name; /* owned; unique */
	struct leat_pos pos;
	unsigned count; /* tasks in each iteration */
	bool io;
	unsigned computing_units; /* of compute tasks */
	double seconds;           /* of a task, beside what it transfers */
	unsigned spread;          /* percent by which that differs from task to task, up or down */
	unsigned megabytes;       /* that each task transfers */
	char *device;             /* owned: with that device; or NULL */
	struct leat_bandwidth bandwidth;
	struct leat_groups each;     /* each task waits for its share of the tasks of these */
	struct leat_groups after;    /* each task waits for all tasks of these */
	struct leat_groups previous; /* the same, in the iteration before */
};

/* One way to run it. */
struct leat_trial {
	enum {
		LEAT_TRIAL_GIVEN,     /* as the workload says */
		LEAT_TRIAL_BASELINE,  /* I/O tasks are compute tasks of one computing unit */
		LEAT_TRIAL_BANDWIDTH, /* all I/O tasks with a device have `bandwidth` */
	} kind;
	struct leat_bandwidth bandwidth;
	unsigned io_executors; /* of each host; 0: as the resources say */
	char *text;            /* owned: as it was written */
};

struct leat_workload {
	char *name; /* owned */
	unsigned iterations;
	struct leat_group *groups; /* owned */
	size_t n_groups;
	struct leat_trial *trials; /* owned; may be none */
	size_t n_trials;
};

struct leat_workload *leat_workload_new(void);

/* NULL is allowed. */
void leat_workload_free(struct leat_workload *w);

/* Append a group; all but its copied name is zero. Valid until the next append. NULL when out of
 * memory. */
struct leat_group *leat_workload_add_group(struct leat_workload *w, const char *name);

/* Append the index of a group. 0 or -ENOMEM. */
int leat_groups_add(struct leat_groups *groups, size_t index);

/* The group of that name, or -1. */
int leat_workload_find(const struct leat_workload *w, const char *name);

/* Read "given", "baseline", "none" or a bandwidth, and "@E" behind it for E I/O executors, and
 * append it. 0; -EINVAL with what is wrong in `why`; -ENOMEM. */
int leat_workload_add_trial(struct leat_workload *w, const char *text,
			    char why[LEAT_BANDWIDTH_WHY]);

/* Forget the trials. */
void leat_workload_clear_trials(struct leat_workload *w);

#endif
