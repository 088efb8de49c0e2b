/* A row of numbers that tells the first of them that is at least as large as asked. Internal to
 * this capacity. */
#ifndef LEAT_SCHED_FIRST_H
#define LEAT_SCHED_FIRST_H

#include <stddef.h>
#include <stdint.h>

/* A tree of maxima over `n` numbers. */
struct leat_first {
	int64_t *max;  /* owned; [1] is the root, the children of [i] are [2i] and [2i+1] */
	size_t leaves; /* a power of two; number i is at leaves + i */
};

/* All `n` (at least 1) numbers are -1. 0 or -ENOMEM. */
int leat_first_init(struct leat_first *first, size_t n);
void leat_first_release(struct leat_first *first);

/* O(log n). */
void leat_first_set(struct leat_first *first, size_t i, int64_t value);

/* The lowest index with a number of at least `value` (not negative), or -1. O(log n). */
int leat_first_find(const struct leat_first *first, int64_t value);

#endif
