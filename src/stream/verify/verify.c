/* The model checker from its beginning to its end. */
#include "stream/verify/search.h"

#include <errno.h>
#include <stdlib.h>

/* More than the state of the largest workflow the search has space for. */
enum { HEAP_BYTES = 4 << 20, SHORTEN_STATES = 200000 };

int leat_verify_run(struct leat_verify *v, struct leat_verify_result *result)
{
	struct verify_seen seen = {.n = 0};
	struct leat_heap *before = leat_heap_use(v->heap);
	int rc;

	*result = (struct leat_verify_result){.complete = true};
	v->result = result;
	rc = leat_verify_search(v, &seen);
	result->states = seen.n;
	leat_verify_seen_release(&seen);
	if (rc >= 0 && result->n_findings)
		rc = leat_verify_shorten(v, SHORTEN_STATES);
	leat_heap_use(before);
	return rc < 0 ? rc : 0;
}

/* ---- before and after ---- */

struct leat_verify *leat_verify_new(struct leat_matcher *m, const struct leat_workflow *wf,
				    const struct leat_verify_bounds *bounds)
{
	struct leat_verify *v = calloc(1, sizeof(*v));
	int rc = v ? leat_verify_model_init(&v->model, m, wf, bounds) : -ENOMEM;

	if (!rc)
		v->heap = leat_heap_new(HEAP_BYTES);
	if (!rc && v->heap)
		return v;
	leat_verify_free(v);
	errno = rc ? -rc : ENOMEM;
	return NULL;
}

void leat_verify_free(struct leat_verify *v)
{
	int saved = errno;

	if (!v)
		return;
	for (unsigned i = 0; v->result && i < v->result->n_findings; i++)
		free(v->result->findings[i].way);
	for (unsigned i = 0; i < v->capacity; i++) {
		free(v->frames[i].heap);
		free(v->frames[i].next);
	}
	leat_verify_model_release(&v->model);
	leat_heap_destroy(v->heap);
	free(v->frames);
	free(v->way);
	free(v);
	errno = saved;
}

const char *leat_verify_kind_name(enum leat_verify_kind kind)
{
	static const char *const names[LEAT_VERIFY_KINDS] = {
		[LEAT_VERIFY_DEADLOCK] = "deadlock",   [LEAT_VERIFY_STARVATION] = "starvation",
		[LEAT_VERIFY_EARLY] = "early commit",  [LEAT_VERIFY_WRONG] = "wrong decision",
		[LEAT_VERIFY_VIOLATION] = "violation",
	};

	return names[kind];
}

int leat_verify_trace(struct leat_verify *v, const struct leat_verify_finding *f, FILE *people,
		      FILE *log)
{
	struct leat_heap *before = leat_heap_use(v->heap);
	int rc;

	v->system.people = people;
	v->system.log = log;
	rc = leat_verify_go(v, f->way, f->length);
	if (!rc && people && f->kind == LEAT_VERIFY_DEADLOCK &&
	    leat_stream_deadlock(v->system.s, NULL, NULL, people) < 0)
		rc = -ENOMEM;
	v->system.people = v->system.log = NULL;
	leat_heap_use(before);
	return rc;
}
