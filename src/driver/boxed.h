/* Steps in containers: their engines, and the command lines that come of it. */
#ifndef LEAT_DRIVER_BOXED_H
#define LEAT_DRIVER_BOXED_H

#include "driver/engine.h"
#include "driver/plan.h"

/* The command line of a step whose engine has been chosen, in the workflow's directory `dir`, for
 * the program's own words `own` (the first is its name) and the step's environment; as
 * leat_engine_argv. */
int leat_boxed_argv(const struct leat_plan *plan, const char *dir, size_t step, char *const *own,
		    char *const *environment, struct leat_argv *argv, const char **why);

#endif
