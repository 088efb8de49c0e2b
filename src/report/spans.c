#include "report/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FEWEST = 16, /* that a file may have however short memory is */
	FIRST_CAPACITY = 4,
	/* The first grain divides a file's time and place into so many. */
	GRID_BITS = 6,
	SHIFT_MAX = 63,
};

/* ---- what belongs together ---- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_cells(const struct leat_span *a, const struct leat_span *b,
			 const struct leat_spans *s)
{
	int order = compare(a->task, b->task);

	if (!order)
		order = compare(a->write, b->write);
	if (!order)
		order = compare(a->begin_ns >> s->time_shift, b->begin_ns >> s->time_shift);
	return order ? order : compare(a->from >> s->place_shift, b->from >> s->place_shift);
}

static int by_cell(const void *a, const void *b, void *s)
{
	return compare_cells(a, b, s);
}

static int by_time(const void *a, const void *b)
{
	const struct leat_span *x = a, *y = b;
	int order = compare(x->begin_ns, y->begin_ns);

	return order ? order : compare(x->from, y->from);
}

static void join(struct leat_span *into, const struct leat_span *more)
{
	if (more->begin_ns < into->begin_ns)
		into->begin_ns = more->begin_ns;
	if (more->end_ns > into->end_ns)
		into->end_ns = more->end_ns;
	if (more->from < into->from)
		into->from = more->from;
	if (more->to > into->to)
		into->to = more->to;
	into->bytes += more->bytes;
	into->calls =
		into->calls + more->calls < into->calls ? UINT32_MAX : into->calls + more->calls;
}

/* ---- coarser ---- */

static uint8_t bits(uint64_t x)
{
	return x ? (uint8_t)(64 - __builtin_clzll(x)) : 0;
}

static uint8_t grain(uint64_t length)
{
	return bits(length) > GRID_BITS ? (uint8_t)(bits(length) - GRID_BITS) : 1;
}

static void choose_grain(struct leat_spans *s)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0, first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct leat_span *p = &s->v[i];

		first_ns = p->begin_ns < first_ns ? p->begin_ns : first_ns;
		last_ns = p->end_ns > last_ns ? p->end_ns : last_ns;
		first = p->from < first ? p->from : first;
		last = p->to > last ? p->to : last;
	}
	s->time_shift = grain(last_ns - first_ns);
	s->place_shift = grain(last - first);
}

static void put_together(struct leat_spans *s)
{
	uint32_t n = 0;

	qsort_r(s->v, s->n, sizeof(*s->v), by_cell, s);
	for (uint32_t i = 0; i < s->n; i++) {
		if (n && !compare_cells(&s->v[n - 1], &s->v[i], s))
			join(&s->v[n - 1], &s->v[i]);
		else
			s->v[n++] = s->v[i];
	}
	s->n = n;
}

static bool coarsen(struct leat_spans *s)
{
	if (s->time_shift == SHIFT_MAX && s->place_shift == SHIFT_MAX)
		return false;
	s->time_shift = s->time_shift < SHIFT_MAX ? (uint8_t)(s->time_shift + 1) : SHIFT_MAX;
	s->place_shift = s->place_shift < SHIFT_MAX ? (uint8_t)(s->place_shift + 1) : SHIFT_MAX;
	return true;
}

/* ---- where is what belongs together? ---- */

static uint64_t hash(const struct leat_spans *s, const struct leat_span *p)
{
	uint64_t h = (uint64_t)p->task << 1 | p->write;

	h = (h ^ p->begin_ns >> s->time_shift) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 32 ^ p->from >> s->place_shift) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* The slot of the cell of `p`, or the free one in which it belongs. */
static uint32_t *slot_of(const struct leat_spans *s, const struct leat_span *p)
{
	uint32_t at = (uint32_t)hash(s, p) & (s->slots - 1);

	while (s->index[at] && compare_cells(&s->v[s->index[at] - 1], p, s) != 0)
		at = (at + 1) & (s->slots - 1);
	return &s->index[at];
}

static int make_index(struct leat_spans *s, uint32_t most, struct leat_spans_budget *budget)
{
	uint32_t slots = 64, *index;

	while (slots < 2 * most || slots < 6 * s->n)
		slots *= 2;
	index = calloc(slots, sizeof(*index));
	if (!index)
		return -ENOMEM;
	budget->used_bytes += slots * sizeof(*index);
	budget->used_bytes -= s->slots * sizeof(*index);
	free(s->index);
	s->index = index;
	s->slots = slots;
	for (uint32_t i = 0; i < s->n; i++)
		*slot_of(s, &s->v[i]) = i + 1;
	return 0;
}

/* At most half as many as may be. Of more tasks than that, one span for each way of each is left.
 */
static int reduce(struct leat_spans *s, uint32_t most, struct leat_spans_budget *budget)
{
	if (!s->time_shift)
		choose_grain(s);
	do
		put_together(s);
	while (s->n > most / 2 && coarsen(s));
	s->reduced = s->n;
	return make_index(s, most, budget);
}

/* ---- adding ---- */

static int reserve(struct leat_spans *s, struct leat_spans_budget *budget)
{
	uint32_t more = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
	struct leat_span *v = reallocarray(s->v, more, sizeof(*v));

	if (!v)
		return -ENOMEM;
	budget->used_bytes += (more - s->capacity) * sizeof(*v);
	s->v = v;
	s->capacity = more;
	return 0;
}

static int append(struct leat_spans *s, const struct leat_span *span,
		  struct leat_spans_budget *budget)
{
	int error = s->n == s->capacity ? reserve(s, budget) : 0;

	if (!error)
		s->v[s->n++] = *span;
	return error;
}

int leat_spans_add(struct leat_spans *s, const struct leat_span *span,
		   struct leat_spans_budget *budget)
{
	uint32_t *slot = s->index ? slot_of(s, span) : NULL;
	int error = 0;

	if (slot && *slot) {
		join(&s->v[*slot - 1], span);
		return 0;
	}
	if (budget->used_bytes > budget->bytes && budget->most > FEWEST)
		budget->most /= 2;
	if (s->n >= budget->most && s->n / 2 >= s->reduced) {
		error = reduce(s, budget->most, budget);
		return error ? error : leat_spans_add(s, span, budget);
	}
	error = append(s, span, budget);
	if (!error && slot)
		*slot = s->n;
	return error;
}

void leat_spans_finish(struct leat_spans *s, struct leat_spans_budget *budget)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_time);
	budget->used_bytes -= s->slots * sizeof(*s->index);
	free(s->index);
	s->index = NULL;
	s->slots = 0;
}

void leat_spans_release(struct leat_spans *s, struct leat_spans_budget *budget)
{
	budget->used_bytes -= s->capacity * sizeof(*s->v) + s->slots * sizeof(*s->index);
	free(s->v);
	free(s->index);
	*s = (struct leat_spans){0};
}
