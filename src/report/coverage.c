#include "report/coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FEWEST = 64, /* ranges that one may have however short memory is */
	FIRST_CAPACITY = 2,
	/* A whole file has about so many blocks for each range that may be kept. */
	BLOCKS_A_RANGE = 16,
	SHIFT_MIN = 4,
	SHIFT_MAX = 52,
	/* More blocks than that are not looked at for one range. */
	BLOCKS_BITS = 18,
	LEVEL_MAX = 40,
};

typedef struct leat_coverage_range range_t;

/* ---- blocks ---- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool is_kept(const struct leat_coverage *c, uint64_t block)
{
	return !c->level || !(mix(block + 1) >> (64 - c->level));
}

/* ---- ranges ---- */

static int reserve(struct leat_coverage *c, struct leat_coverage_budget *budget)
{
	uint32_t more = c->capacity ? 2 * c->capacity : FIRST_CAPACITY;
	range_t *v;

	if (c->n < c->capacity)
		return 0;
	v = reallocarray(c->v, more, sizeof(*v));
	if (!v)
		return -ENOMEM;
	budget->used_bytes += (more - c->capacity) * sizeof(*v);
	c->v = v;
	c->capacity = more;
	return 0;
}

/* The first range that ends at `begin` or behind it. */
static uint32_t find(const struct leat_coverage *c, uint64_t begin)
{
	uint32_t low = 0, high = c->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->v[middle].end < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_ranges(struct leat_coverage *c, uint32_t at, uint32_t n)
{
	memmove(&c->v[at], &c->v[at + n], (c->n - at - n) * sizeof(*c->v));
	c->n -= n;
}

/* Range `at` now ends at `end`: those behind it that it reaches become part of it. */
static void stretch(struct leat_coverage *c, uint32_t at, uint64_t end)
{
	uint32_t next = at + 1;

	if (end <= c->v[at].end)
		return;
	while (next < c->n && c->v[next].begin <= end) {
		if (c->v[next].end > end)
			end = c->v[next].end;
		next++;
	}
	c->v[at].end = end;
	if (next > at + 1)
		remove_ranges(c, at + 1, next - at - 1);
}

static int insert(struct leat_coverage *c, uint64_t begin, uint64_t end,
		  struct leat_coverage_budget *budget)
{
	uint32_t at = c->last;
	int error;

	/* Mostly this goes on where the last one ended. */
	if (at >= c->n || c->v[at].begin > begin || c->v[at].end < begin)
		at = find(c, begin);
	if (at == c->n || c->v[at].begin > end) {
		error = reserve(c, budget);
		if (error)
			return error;
		memmove(&c->v[at + 1], &c->v[at], (c->n - at) * sizeof(*c->v));
		c->v[at] = (range_t){begin, end};
		c->n++;
	} else {
		if (c->v[at].begin > begin)
			c->v[at].begin = begin;
		stretch(c, at, end);
	}
	c->last = at;
	return 0;
}

/* Of [begin, end) what lies in kept blocks. */
static int insert_kept(struct leat_coverage *c, uint64_t begin, uint64_t end,
		       struct leat_coverage_budget *budget)
{
	int error = 0;

	if (!c->level)
		return insert(c, begin, end, budget);
	for (uint64_t block = begin >> c->shift; !error && begin < end; block++) {
		uint64_t stop = (block + 1) << c->shift;

		/* The last block of all has no end that fits. */
		if (stop > end || stop <= begin)
			stop = end;
		if (is_kept(c, block))
			error = insert(c, begin, stop, budget);
		begin = stop;
	}
	return error;
}

/* ---- when there are too many ---- */

static void choose_blocks(struct leat_coverage *c, uint32_t most)
{
	uint64_t block = (c->v[c->n - 1].end - c->v[0].begin) / most / BLOCKS_A_RANGE;

	c->estimated = true;
	c->shift = SHIFT_MIN;
	while (c->shift < SHIFT_MAX && UINT64_C(2) << c->shift <= block)
		c->shift++;
}

/* Half as many blocks. */
static int thin(struct leat_coverage *c, struct leat_coverage_budget *budget)
{
	struct leat_coverage fewer = {
		.level = (uint8_t)(c->level + 1), .shift = c->shift, .estimated = true};
	int error = 0;

	for (uint32_t i = 0; i < c->n && !error; i++)
		error = insert_kept(&fewer, c->v[i].begin, c->v[i].end, budget);
	if (error) {
		leat_coverage_release(&fewer, budget);
		return error;
	}
	leat_coverage_release(c, budget);
	*c = fewer;
	return 0;
}

static int limit_ranges(struct leat_coverage *c, struct leat_coverage_budget *budget)
{
	int error = 0;

	if (budget->used_bytes > budget->bytes && budget->most > FEWEST)
		budget->most /= 2;
	if (c->n <= budget->most)
		return 0;
	if (!c->level)
		choose_blocks(c, budget->most);
	while (!error && c->n > budget->most / 2 && c->level < LEVEL_MAX)
		error = thin(c, budget);
	return error;
}

/* A range that is much longer than all there was when blocks were chosen: begin again with what is
 * kept, which is little beside it. */
static void choose_blocks_anew(struct leat_coverage *c, uint64_t begin, uint64_t end)
{
	if (c->level && (end - begin) >> c->shift >> BLOCKS_BITS)
		c->level = 0;
}

int leat_coverage_add(struct leat_coverage *c, uint64_t begin, uint64_t end,
		      struct leat_coverage_budget *budget)
{
	int error;

	if (begin >= end)
		return 0;
	choose_blocks_anew(c, begin, end);
	error = insert_kept(c, begin, end, budget);
	return error || c->n < FEWEST ? error : limit_ranges(c, budget);
}

/* ---- answers ---- */

/* What is kept stands for all. */
static uint64_t scale(const struct leat_coverage *c, uint64_t bytes)
{
	return bytes > UINT64_MAX >> c->level ? UINT64_MAX : bytes << c->level;
}

uint64_t leat_coverage_bytes(const struct leat_coverage *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->n; i++)
		sum += c->v[i].end - c->v[i].begin;
	return scale(c, sum);
}

static uint64_t overlap_of_kept(const struct leat_coverage *c, uint64_t begin, uint64_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = find(c, begin); i < c->n && c->v[i].begin < end; i++) {
		uint64_t from = c->v[i].begin > begin ? c->v[i].begin : begin;
		uint64_t to = c->v[i].end < end ? c->v[i].end : end;

		if (to > from)
			sum += to - from;
	}
	return sum;
}

uint64_t leat_coverage_overlap(const struct leat_coverage *c, uint64_t begin, uint64_t end)
{
	uint64_t sum;

	if (begin >= end || !c->n)
		return 0;
	sum = scale(c, overlap_of_kept(c, begin, end));
	return sum < end - begin ? sum : end - begin;
}

void leat_coverage_release(struct leat_coverage *c, struct leat_coverage_budget *budget)
{
	budget->used_bytes -= c->capacity * sizeof(*c->v);
	free(c->v);
	*c = (struct leat_coverage){0};
}
