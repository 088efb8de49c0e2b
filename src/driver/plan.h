/* What has to be known before anything starts: the order of the steps, and
 * that each of them can run. */
#ifndef LEAT_DRIVER_PLAN_H
#define LEAT_DRIVER_PLAN_H

#include "model/match.h"

#include <stdbool.h>

struct leat_plan {
	const struct leat_workflow *wf; /* borrowed */
	struct leat_matcher *matcher;   /* owned */
	size_t *order;                  /* owned; producers before their consumers */
	char **programs;                /* owned; the path of each step's program */
};

/* Order the steps. Steps on a common cycle stay in the order of the file. 0 or -ENOMEM. */
int leat_plan_init(struct leat_plan *plan, const struct leat_workflow *wf);
void leat_plan_release(struct leat_plan *plan);

/* Find each step's program (relative to `dir`, the workflow's directory, or in
 * PATH), and look whether it can be executed and, with `intercepted`, followed.
 * All problems are logged, one line a step. 0; else LEAT_PLAN_* for the first. */
int leat_plan_programs(struct leat_plan *plan, const char *dir, bool intercepted);

enum { LEAT_PLAN_CANNOT_EXECUTE = 126, LEAT_PLAN_NOT_FOUND = 127 };

/* The program a shell would run for `name` in `dir`: 0 and *path (freed by the
 * caller), -ENOENT, -EACCES, -ENOMEM. */
int leat_find_program(const char *name, const char *dir, char **path);

/* True, after logging it, if steps wait for each other's ends: no batch order. */
bool leat_plan_is_cyclic(const struct leat_plan *plan);

#endif
