#include "daemon/run/track.h"

#include <stdbool.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
/* Alike pieces in which bytes move stay apart beyond this, so that rates can be told. */
#define MOVING_NS (100 * MS)

void leat_track_init(struct leat_track *t, unsigned most)
{
	*t = (struct leat_track){.most = most, .grain_ns = MS};
}

void leat_track_release(struct leat_track *t)
{
	free(t->v);
	*t = (struct leat_track){0};
}

unsigned leat_track_share(unsigned n_steps)
{
	unsigned share = n_steps ? LEAT_TRACK_BUDGET / n_steps : LEAT_TRACK_MOST;

	if (share < LEAT_TRACK_LEAST)
		return LEAT_TRACK_LEAST;
	return share > LEAT_TRACK_MOST ? LEAT_TRACK_MOST : share;
}

static uint64_t end_of(const struct leat_piece *p)
{
	return p->begin_ns + p->length_ns;
}

static void join(struct leat_piece *to, const struct leat_piece *p)
{
	to->length_ns += p->length_ns;
	to->wait_ns += p->wait_ns;
	to->copy_ns += p->copy_ns;
	to->rest_ns += p->rest_ns;
	to->bytes_in += p->bytes_in;
	to->bytes_out += p->bytes_out;
	if (p->file)
		to->file = p->file;
}

/* Parts of two lengths that differ by less than a tenth. */
static bool is_near(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	double difference = (double)a / (double)a_length - (double)b / (double)b_length;

	return difference < 0.1 && difference > -0.1;
}

static bool is_alike(const struct leat_piece *a, const struct leat_piece *b)
{
	bool moves = a->bytes_in || a->bytes_out || b->bytes_in || b->bytes_out;

	return is_near(a->wait_ns, a->length_ns, b->wait_ns, b->length_ns) &&
	       is_near(a->copy_ns, a->length_ns, b->copy_ns, b->length_ns) &&
	       is_near(a->rest_ns, a->length_ns, b->rest_ns, b->length_ns) &&
	       (a->file == b->file || !b->file) &&
	       (!moves || a->length_ns + b->length_ns <= MOVING_NS);
}

static void join_short(struct leat_track *t)
{
	unsigned kept = 0;

	for (unsigned i = 1; i < t->n; i++)
		if (t->v[kept].length_ns + t->v[i].length_ns <= t->grain_ns)
			join(&t->v[kept], &t->v[i]);
		else
			t->v[++kept] = t->v[i];
	t->n = kept + 1;
}

/* No neighbours are left that fit into the grain together: at the latest when it is the whole
 * time, one piece remains. */
static void coarsen(struct leat_track *t)
{
	while (t->n > t->most / 4 * 3) {
		t->grain_ns *= 2;
		join_short(t);
	}
}

static bool has_space(struct leat_track *t)
{
	unsigned capacity = t->capacity ? 2 * t->capacity : 64;
	struct leat_piece *grown;

	if (t->n < t->capacity)
		return true;
	grown = reallocarray(t->v, capacity, sizeof(*grown));
	if (!grown)
		return false;
	t->v = grown;
	t->capacity = capacity;
	return true;
}

static void add(struct leat_track *t, const struct leat_piece *p)
{
	struct leat_piece *last = t->n ? &t->v[t->n - 1] : NULL;

	if (!p->length_ns)
		return;
	if (last && (is_alike(last, p) || last->length_ns + p->length_ns <= t->grain_ns)) {
		join(last, p);
		return;
	}
	if (t->n == t->most)
		coarsen(t);
	if (has_space(t))
		t->v[t->n++] = *p;
	else if (last)
		join(last, p);
}

static void cut(uint64_t *part, uint64_t *space)
{
	if (*part > *space)
		*part = *space;
	*space -= *part;
}

void leat_track_add(struct leat_track *t, const struct leat_piece *piece)
{
	struct leat_piece p = *piece;
	uint64_t space = p.length_ns;
	uint64_t end_ns = t->n ? end_of(&t->v[t->n - 1]) : p.begin_ns;

	if (end_ns < p.begin_ns) {
		const uint64_t gap = p.begin_ns - end_ns;

		add(t, &(struct leat_piece){.begin_ns = end_ns, .length_ns = gap, .rest_ns = gap});
	}
	cut(&p.rest_ns, &space);
	cut(&p.wait_ns, &space);
	cut(&p.copy_ns, &space);
	add(t, &p);
}

void leat_track_copied(struct leat_track *t, uint64_t ns)
{
	for (unsigned i = t->n; ns && i--;) {
		struct leat_piece *p = &t->v[i];
		uint64_t space = p->length_ns - p->wait_ns - p->rest_ns - p->copy_ns;
		uint64_t part = ns < space ? ns : space;

		p->copy_ns += part;
		ns -= ns < p->length_ns ? ns : p->length_ns;
	}
}
