/* Breadth first until all that was found is met again: then by a shortest way. To be at a state
 * again, the actions that lead there are played again. */
#include "stream/verify/search.h"

#include <errno.h>
#include <stdlib.h>

struct node {
	uint32_t parent; /* 0: the beginning, which is node 0 */
	uint32_t action;
};

struct breadth {
	struct leat_verify *v;
	struct leat_verify_result *found;
	struct verify_seen seen;
	struct node *nodes; /* in the order they were met */
	uint32_t n, capacity;
	uint32_t *way;
	unsigned length, path_capacity;
};

static int add_node(struct breadth *b, uint32_t parent, uint32_t action)
{
	if (b->n == b->capacity) {
		uint32_t capacity = b->capacity ? 2 * b->capacity : 1024;
		struct node *nodes = reallocarray(b->nodes, capacity, sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		b->nodes = nodes;
		b->capacity = capacity;
	}
	b->nodes[b->n++] = (struct node){parent, action};
	return 0;
}

/* The way to node `at`, with space for one action more. */
static int find_way(struct breadth *b, uint32_t at)
{
	unsigned length = 0;

	for (uint32_t i = at; i; i = b->nodes[i].parent)
		length++;
	if (length + 1 > b->path_capacity) {
		uint32_t *way = reallocarray(b->way, length + 64, sizeof(*way));

		if (!way)
			return -ENOMEM;
		b->way = way;
		b->path_capacity = length + 64;
	}
	b->length = length;
	for (uint32_t i = at; i; i = b->nodes[i].parent)
		b->way[--length] = b->nodes[i].action;
	return 0;
}

static int follow(struct breadth *b, uint32_t at, const struct verify_action *a)
{
	struct verify_system *w = &b->v->system;
	uint32_t action = leat_verify_pack(a);
	int rc;

	leat_verify_system_do(w, a);
	b->way[b->length] = action;
	rc = w->error ? w->error : leat_verify_note(w, b->found, b->way, b->length + 1);
	if (rc || !leat_verify_goes_on(w))
		return rc;
	rc = leat_verify_seen_put(&b->seen, leat_verify_hash(w));
	return rc > 0 ? add_node(b, at, action) : rc;
}

static int expand(struct breadth *b, uint32_t at)
{
	struct verify_system *w = &b->v->system;
	struct verify_action next[VERIFY_ACTIONS];
	int rc = find_way(b, at), n;

	rc = rc ? rc : leat_verify_go(b->v, b->way, b->length);
	if (rc)
		return rc;
	n = leat_verify_state_next(&b->v->model, &w->st, next);
	leat_verify_check_rest(w, next, n);
	rc = leat_verify_note(w, b->found, b->way, b->length);
	for (int i = 0; i < n && !rc; i++) {
		rc = i ? leat_verify_go(b->v, b->way, b->length) : 0;
		rc = rc ? rc : follow(b, at, &next[i]);
	}
	return rc;
}

static bool is_all_found(const struct breadth *b)
{
	const struct leat_verify_result *r = b->v->result;

	for (unsigned i = 0; i < r->n_findings; i++)
		if (!leat_verify_is_noted(b->found, &r->findings[i]))
			return false;
	return true;
}

/* What was found again takes the place of what it says the same as. */
static void take_over(struct breadth *b)
{
	struct leat_verify_result *r = b->v->result, *found = b->found;

	for (unsigned i = 0; i < r->n_findings; i++) {
		const struct leat_verify_finding *f = &r->findings[i];

		if (found->n_findings < LEAT_VERIFY_MAX_FINDINGS && !leat_verify_is_noted(found, f))
			found->findings[found->n_findings++] = *f;
		else
			free(f->way);
	}
	for (unsigned i = 0; i < found->n_findings; i++)
		r->findings[i] = found->findings[i];
	r->n_findings = found->n_findings;
}

int leat_verify_shorten(struct leat_verify *v, uint64_t limit)
{
	struct breadth b = {.v = v, .found = calloc(1, sizeof(*b.found))};
	int rc = b.found ? leat_verify_system_begin(&v->system, &v->model, v->heap) : -ENOMEM;

	rc = rc ? rc : leat_verify_seen_put(&b.seen, leat_verify_hash(&v->system));
	rc = rc < 0 ? rc : add_node(&b, 0, 0);
	v->model.eager = false;
	for (uint32_t at = 0; !rc && at < b.n && b.n < limit && !is_all_found(&b); at++)
		rc = expand(&b, at);
	v->model.eager = !v->model.bounds.full;
	for (unsigned i = 0; b.found && i < b.found->n_findings; i++)
		b.found->findings[i].shortest = true;
	if (b.found)
		take_over(&b);
	leat_verify_seen_release(&b.seen);
	free(b.found);
	free(b.nodes);
	free(b.way);
	return rc;
}
