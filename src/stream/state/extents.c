#include "stream/state/extents.h"

#include "stream/state/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Index of the first range that ends at or after `at`. */
static size_t first_reaching(const struct leat_extents *x, uint64_t at)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->v[middle].end < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct leat_extents *x, size_t at, uint64_t begin, uint64_t end)
{
	if (x->n == x->capacity) {
		size_t capacity = x->capacity ? 2 * x->capacity : 4;
		struct leat_range *v = leat_heap_resize(x->v, capacity, sizeof(*v));

		if (!v)
			return -ENOMEM;
		x->v = v;
		x->capacity = capacity;
	}
	memmove(x->v + at + 1, x->v + at, (x->n - at) * sizeof(*x->v));
	x->v[at] = (struct leat_range){begin, end};
	x->n++;
	return 0;
}

int leat_extents_add(struct leat_extents *x, uint64_t begin, uint64_t end)
{
	size_t first, last;

	if (begin >= end)
		return 0;
	first = first_reaching(x, begin);
	if (first == x->n || x->v[first].begin > end)
		return insert(x, first, begin, end);
	if (begin < x->v[first].begin)
		x->v[first].begin = begin;
	for (last = first; last + 1 < x->n && x->v[last + 1].begin <= end; last++)
		;
	if (end < x->v[last].end)
		end = x->v[last].end;
	x->v[first].end = end;
	memmove(x->v + first + 1, x->v + last + 1, (x->n - last - 1) * sizeof(*x->v));
	x->n -= last - first;
	return 0;
}

void leat_extents_truncate(struct leat_extents *x, uint64_t length)
{
	while (x->n && x->v[x->n - 1].begin >= length)
		x->n--;
	if (x->n && x->v[x->n - 1].end > length)
		x->v[x->n - 1].end = length;
}

bool leat_extents_cover(const struct leat_extents *x, uint64_t begin, uint64_t end)
{
	size_t i;

	if (begin >= end)
		return true;
	i = first_reaching(x, end);
	return i < x->n && x->v[i].begin <= begin;
}

uint64_t leat_extents_frontier(const struct leat_extents *x)
{
	return x->n && !x->v[0].begin ? x->v[0].end : 0;
}

void leat_extents_release(struct leat_extents *x)
{
	leat_heap_free(x->v);
	*x = (struct leat_extents){0};
}
