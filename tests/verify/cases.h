/* Small workflows for the model checker, which between them use every rule and every kind of
 * call, and what must be found in each. */
#ifndef LEAT_TESTS_VERIFY_CASES_H
#define LEAT_TESTS_VERIFY_CASES_H

#include "stream_world.h"

#include "stream/verify/verify.h"

struct verify_case {
	const char *name;
	const char *workflow; /* as world_parse reads it */
	struct leat_verify_bounds bounds;
	unsigned finds; /* a bit for each enum leat_verify_kind */
};

extern const struct verify_case verify_cases[];
extern const size_t verify_n_cases;

/* Search the workflow of `w`. The caller frees it. */
struct leat_verify *verify_world_run(const struct world *w, const struct leat_verify_bounds *bounds,
				     struct leat_verify_result *result);

/* Check one case. NULL if all is as expected; else what is not, with the trace that shows it; the
 * caller frees it. `result` may be NULL. */
char *verify_case_run(const struct verify_case *c, struct leat_verify_result *result);

#endif
