/* What leat simulate prints. */
#ifndef LEAT_CLI_SIMULATE_WRITE_H
#define LEAT_CLI_SIMULATE_WRITE_H

#include "sched/simulate.h"

#include <stdio.h>

/* The results of all trials of a workload; everything borrowed. */
struct leat_trials {
	const struct leat_resources *res;
	const struct leat_workload *w;
	const struct leat_simulated *results; /* of w->trials, in order */
};

/* For people: a table of the trials, and what was learned. */
void leat_trials_write_text(const struct leat_trials *t, FILE *out);

/* All there is. */
void leat_trials_write_json(const struct leat_trials *t, FILE *out);

/* One table: "trials", "tasks", "epochs" or "registry". */
void leat_trials_write_csv(const struct leat_trials *t, const char *table, FILE *out);

#endif
