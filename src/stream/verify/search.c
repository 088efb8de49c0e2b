/* Depth first over all states; to go back to one, the heap with the rules' state is put back. */
#include "stream/verify/search.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t leat_verify_pack(const struct verify_action *a)
{
	return (uint32_t)a->verb << 16 | (uint32_t)a->step << 8 | (uint32_t)(a->task + 1);
}

struct verify_action leat_verify_unpack(uint32_t action)
{
	return (struct verify_action){(enum verify_verb)(action >> 16), (int)(action >> 8 & 255),
				      (int)(action & 255) - 1};
}

uint64_t leat_verify_hash(const struct verify_system *w)
{
	return XXH3_64bits_withSeed(&w->st, sizeof(w->st), leat_stream_fingerprint(w->s));
}

/* ---- findings ---- */

static bool reads_the_same(const struct leat_verify_finding *f,
			   const struct leat_verify_finding *what)
{
	if (f->kind != what->kind)
		return false;
	if (f->kind != LEAT_VERIFY_DEADLOCK)
		return !strcmp(f->text, what->text);
	return !(f->stuck & ~what->stuck) && !(f->waits[0] & ~what->waits[0]) &&
	       !(f->waits[1] & ~what->waits[1]);
}

bool leat_verify_is_noted(const struct leat_verify_result *r,
			  const struct leat_verify_finding *what)
{
	for (unsigned i = 0; i < r->n_findings; i++)
		if (reads_the_same(&r->findings[i], what))
			return true;
	return false;
}

int leat_verify_note(const struct verify_system *w, struct leat_verify_result *r,
		     const uint32_t *way, unsigned length)
{
	struct leat_verify_finding *f;

	if (!w->fault.found || r->n_findings == LEAT_VERIFY_MAX_FINDINGS ||
	    leat_verify_is_noted(r, &w->fault.what))
		return 0;
	f = &r->findings[r->n_findings];
	*f = w->fault.what;
	f->length = length;
	f->way = calloc(length + 1, sizeof(*f->way));
	if (!f->way)
		return -ENOMEM;
	memcpy(f->way, way, length * sizeof(*way));
	r->n_findings++;
	return 0;
}

bool leat_verify_goes_on(const struct verify_system *w)
{
	return !w->fault.found || w->fault.what.kind == LEAT_VERIFY_DEADLOCK;
}

void leat_verify_check_rest(struct verify_system *w, const struct verify_action *next, int n)
{
	w->fault = (struct verify_fault){.found = false};
	for (int i = 0; i < n; i++)
		if (next[i].verb != VERIFY_FAIL)
			return;
	leat_verify_system_check_end(w);
}

/* ---- going there and back ---- */

int leat_verify_go(struct leat_verify *v, const uint32_t *way, unsigned length)
{
	int rc = leat_verify_system_begin(&v->system, &v->model, v->heap);

	for (unsigned i = 0; i < length && !rc; i++) {
		struct verify_action a = leat_verify_unpack(way[i]);

		leat_verify_system_do(&v->system, &a);
		rc = v->system.error;
	}
	return rc;
}

static int reserve(struct leat_verify *v, unsigned depth)
{
	struct verify_frame *frames;
	uint32_t *way;

	if (depth < v->capacity)
		return 0;
	frames = reallocarray(v->frames, depth + 64, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	v->frames = frames;
	memset(frames + v->capacity, 0, (depth + 64 - v->capacity) * sizeof(*frames));
	way = reallocarray(v->way, depth + 64, sizeof(*way));
	if (!way)
		return -ENOMEM;
	v->way = way;
	v->capacity = depth + 64;
	return 0;
}

static int keep(struct leat_verify *v, struct verify_frame *f)
{
	size_t used = leat_heap_used(v->heap);

	if (used > f->heap_capacity) {
		void *heap = realloc(f->heap, 2 * used);

		if (!heap)
			return -ENOMEM;
		f->heap = heap;
		f->heap_capacity = 2 * used;
	}
	leat_heap_keep(v->heap, f->heap);
	f->st = v->system.st;
	return 0;
}

/* The system is at a new state: what can follow? */
static int enter(struct leat_verify *v, unsigned depth)
{
	struct verify_action next[VERIFY_ACTIONS];
	struct verify_frame *f;
	int rc = reserve(v, depth);

	if (rc)
		return rc;
	f = &v->frames[depth];
	f->at = 0;
	f->n = leat_verify_state_next(&v->model, &v->system.st, next);
	if (f->n > f->capacity) {
		uint32_t *actions = reallocarray(f->next, (size_t)f->n + 8, sizeof(*actions));

		if (!actions)
			return -ENOMEM;
		f->next = actions;
		f->capacity = f->n + 8;
	}
	for (int i = 0; i < f->n; i++)
		f->next[i] = leat_verify_pack(&next[i]);
	v->result->ends += leat_verify_state_all_over(&v->model, &v->system.st);
	if (depth > v->result->depth)
		v->result->depth = depth;
	leat_verify_check_rest(&v->system, next, f->n);
	rc = leat_verify_note(&v->system, v->result, v->way, depth);
	return rc || f->n < 2 ? rc : keep(v, f);
}

/* Do the next action of the state at `depth`. 1 that led to a new state, 0, -ENOMEM. */
static int advance(struct leat_verify *v, struct verify_seen *seen, unsigned depth)
{
	struct verify_frame *f = &v->frames[depth];
	struct verify_action a = leat_verify_unpack(f->next[f->at]);
	int rc;

	if (f->at) {
		leat_heap_put_back(v->heap, f->heap);
		v->system.st = f->st;
	}
	v->way[depth] = f->next[f->at++];
	leat_verify_system_do(&v->system, &a);
	v->result->transitions++;
	if (v->system.error)
		return v->system.error;
	rc = leat_verify_note(&v->system, v->result, v->way, depth + 1);
	if (rc || !leat_verify_goes_on(&v->system))
		return rc;
	return leat_verify_seen_put(seen, leat_verify_hash(&v->system));
}

int leat_verify_search(struct leat_verify *v, struct verify_seen *seen)
{
	unsigned depth = 0;
	int rc = leat_verify_system_begin(&v->system, &v->model, v->heap);

	rc = rc ? rc : leat_verify_seen_put(seen, leat_verify_hash(&v->system));
	rc = rc < 0 ? rc : enter(v, 0);
	while (rc >= 0) {
		struct verify_frame *f = &v->frames[depth];

		if (f->at == f->n) {
			if (!depth)
				break;
			depth--;
			continue;
		}
		rc = advance(v, seen, depth);
		if (rc > 0)
			rc = enter(v, ++depth);
		v->result->complete = seen->n <= v->model.bounds.states;
		if (!v->result->complete)
			break;
	}
	return rc;
}
