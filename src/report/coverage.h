/* Which bytes of a file were touched, in bounded memory.
 *
 * As long as the ranges are few they are all kept, and the answers exact. When they come to be too
 * many, only those in some blocks of the file are kept: one block in two, in four..., chosen by a
 * hash of its number. What is kept stands for the rest; with some hundred blocks kept, sums are
 * off by some percent. One thread at a time. */
#ifndef LEAT_REPORT_COVERAGE_H
#define LEAT_REPORT_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What many coverages share: how much memory they have, and what they use of it. */
struct leat_coverage_budget {
	size_t bytes, used_bytes;
	uint32_t most; /* ranges that one may have; gets less when memory gets short */
};

struct leat_coverage {
	struct leat_coverage_range {
		uint64_t begin, end;
	} * v; /* owned; in order, none touches another */
	uint32_t n, capacity;
	uint32_t last; /* where something was added last */
	uint8_t level; /* one block in 2^level is kept; 0: all */
	uint8_t shift; /* a block has 2^shift bytes */
	bool estimated;
};

/* Add the bytes [begin, end). 0 or -ENOMEM, the coverage then being as it was. */
int leat_coverage_add(struct leat_coverage *c, uint64_t begin, uint64_t end,
		      struct leat_coverage_budget *budget);

/* How many bytes were added, each counted once. */
uint64_t leat_coverage_bytes(const struct leat_coverage *c);

/* How many bytes of [begin, end) were. */
uint64_t leat_coverage_overlap(const struct leat_coverage *c, uint64_t begin, uint64_t end);

static inline bool leat_coverage_is_exact(const struct leat_coverage *c)
{
	return !c->estimated;
}

void leat_coverage_release(struct leat_coverage *c, struct leat_coverage_budget *budget);

#endif
