/* A set of byte ranges, kept sorted and merged. */
#ifndef LEAT_STREAM_EXTENTS_H
#define LEAT_STREAM_EXTENTS_H

#include "base/range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. */
struct leat_extents {
	struct leat_range *v; /* owned */
	size_t n;
	size_t capacity;
};

/* Add [begin, end). 0 or -ENOMEM (then unchanged). */
int leat_extents_add(struct leat_extents *x, uint64_t begin, uint64_t end);

/* Forget everything from `length` on. */
void leat_extents_truncate(struct leat_extents *x, uint64_t length);

/* True if all of [begin, end) is there; an empty range always is. */
bool leat_extents_cover(const struct leat_extents *x, uint64_t begin, uint64_t end);

/* Bytes [0, n) that are there without a gap. */
uint64_t leat_extents_frontier(const struct leat_extents *x);

void leat_extents_release(struct leat_extents *x);

#endif
