/* Workflows of three steps and three files, one made by each step, under every combination of
 * commit and firing rules: on_termination, on_close, on_close:2, on_file either of the other two,
 * a directory of two files; each with update and no_update. */
#ifndef LEAT_TESTS_VERIFY_FAMILY_H
#define LEAT_TESTS_VERIFY_FAMILY_H

#include "stream/verify/verify.h"

enum { FAMILY_RULES = 12, FAMILY_COMBINATIONS = FAMILY_RULES * FAMILY_RULES * FAMILY_RULES };

/* Who reads whose file: bit 3 * reader + writer. */
struct family_shape {
	const char *name;
	unsigned reads;
};

extern const struct family_shape family_shapes[];
extern const unsigned family_n_shapes;

/* A workflow of that shape, as world_parse reads it; the caller frees it. */
char *family_text(const struct family_shape *shape, unsigned combination);

struct family_sum {
	unsigned long combinations;
	unsigned long same; /* but for names, as one before */
	unsigned long states, transitions, most;
	unsigned long deadlocks; /* workflows with one */
	unsigned long wrong;     /* with anything else, or not all states seen */
};

/* Check every `stride`th combination from `first` on; what is wrong is shown on stdout. */
void family_run(const struct family_shape *shape, unsigned first, unsigned stride,
		const struct leat_verify_bounds *bounds, struct family_sum *sum);

#endif
