#include "sched/first.h"

#include <errno.h>
#include <stdlib.h>

int leat_first_init(struct leat_first *first, size_t n)
{
	size_t leaves = 1;

	while (leaves < n)
		leaves *= 2;
	first->max = malloc(2 * leaves * sizeof(*first->max));
	if (!first->max)
		return -ENOMEM;
	first->leaves = leaves;
	for (size_t i = 0; i < 2 * leaves; i++)
		first->max[i] = -1;
	return 0;
}

void leat_first_release(struct leat_first *first)
{
	free(first->max);
	first->max = NULL;
}

void leat_first_set(struct leat_first *first, size_t i, int64_t value)
{
	size_t at = first->leaves + i;

	first->max[at] = value;
	while (at > 1) {
		int64_t other = first->max[at ^ 1];
		int64_t high = first->max[at] > other ? first->max[at] : other;

		at /= 2;
		if (first->max[at] == high)
			return;
		first->max[at] = high;
	}
}

int leat_first_find(const struct leat_first *first, int64_t value)
{
	size_t at = 1;

	if (first->max[1] < value)
		return -1;
	while (at < first->leaves) {
		at *= 2;
		if (first->max[at] < value)
			at++;
	}
	return (int)(at - first->leaves);
}
