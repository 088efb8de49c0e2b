/* Which files are moved next: some that were looked at least recently are compared, never all. */
#include "daemon/space/candidates.h"

#include "base/clock.h"
#include "daemon/core/connections.h"
#include "daemon/files/files.h"

#define SECOND UINT64_C(1000000000)
/* How long a call that a client was allowed may take to be made. */
#define HELD_NS SECOND
/* Complete files that are looked at in one go, of perhaps millions: those that were not have their
 * turn the next time. */
#define MOST_LOOKED 4096u
/* Where none was found they are looked at for at most this part of the time. */
#define SHARE 20u
/* A program that has just asked for a file may be about to open it, or to ask again whether it has
 * changed: tar compares its times before and after. */
#define IN_USE_NS SECOND

bool leat_file_is_held(const struct leat_daemon *d, const struct leat_file *f, uint64_t now)
{
	const struct leat_conn *c;

	DL_FOREACH(d->conns, c)
	if (c->held == f && now - c->held_ns < HELD_NS)
		return true;
	return false;
}

static bool will_be_read(const struct leat_daemon *d, const struct leat_file *f)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (leat_file_awaits(d, f, i))
			return true;
	return false;
}

static bool is_movable(struct leat_daemon *d, const struct leat_file *f)
{
	return !f->retired && !f->descriptions && !f->move && !f->copying && !f->dirty &&
	       !f->saving && f->size && (leat_shm_flags(leat_file_shm(d, f)) & LEAT_SHM_COMMITTED);
}

/* What nobody will read goes first, the coldest of it. What will be read is read in the order in
 * which it was made, most often: of that the newest goes, not what is next, unless it is in use. */
static bool goes_before(const struct leat_candidate *a, const struct leat_candidate *b)
{
	if (a->wanted != b->wanted)
		return b->wanted;
	if (a->in_use != b->in_use)
		return b->in_use;
	return (a->f->touched_ns < b->f->touched_ns) == (!a->wanted || a->in_use);
}

/* What is next comes at once when it is asked for: of the others the newest comes back. */
static bool comes_before(const struct leat_candidate *a, const struct leat_candidate *b)
{
	return a->f->touched_ns > b->f->touched_ns;
}

static void sort_in(struct leat_candidates *q, enum leat_root root, struct leat_candidate c)
{
	bool (*before)(const struct leat_candidate *, const struct leat_candidate *) =
		root == LEAT_ROOT_STORE ? goes_before : comes_before;
	unsigned i = q->n;

	if (q->n < LEAT_CANDIDATES)
		q->n++;
	else if (!before(&c, &q->v[--i]))
		return;
	for (; i && before(&c, &q->v[i - 1]); i--)
		q->v[i] = q->v[i - 1];
	q->v[i] = c;
}

static bool may_leave(enum leat_root root, const struct leat_candidate *c)
{
	return root == LEAT_ROOT_STORE || (c->wanted && !c->in_use);
}

static void find(struct leat_daemon *d, struct leat_candidates *q, enum leat_root root)
{
	size_t all = d->files->n_complete[root];
	uint64_t now = leat_clock_ns();

	q->n = q->next = 0;
	for (size_t i = 0; i < all && i < MOST_LOOKED; i++) {
		struct leat_candidate c = {.f = d->files->complete[root]};

		leat_file_list_complete(d, c.f, root);
		if (!is_movable(d, c.f))
			continue;
		c.wanted = will_be_read(d, c.f);
		c.in_use = now - c.f->touched_ns < IN_USE_NS;
		if (may_leave(root, &c))
			sort_in(q, root, c);
	}
	q->found_ns = leat_clock_ns();
	q->find_ns = q->found_ns - now;
}

/* Its list may be wrong about where it is: others rename and remove, too. */
static bool is_there(struct leat_daemon *d, struct leat_file *f, enum leat_root root)
{
	enum leat_root where;
	struct stat st;

	if (!leat_tree_has_ours(d->tree, f->name, &where, &st) || !S_ISREG(st.st_mode))
		where = LEAT_ROOT_NONE;
	if (where != root)
		leat_file_list_complete(d, f, where);
	return where == root;
}

static bool is_due(const struct leat_candidates *q, uint64_t now)
{
	return q->n || now - q->found_ns >= SHARE * q->find_ns;
}

const struct leat_candidate *leat_candidates_take(struct leat_daemon *d, struct leat_candidates *q,
						  enum leat_root root)
{
	uint64_t now = leat_clock_ns();

	if (q->next == q->n && is_due(q, now))
		find(d, q, root);
	while (q->next < q->n) {
		const struct leat_candidate *c = &q->v[q->next++];

		if (c->f->touched_ns <= q->found_ns && is_movable(d, c->f) &&
		    !leat_file_is_held(d, c->f, now) && is_there(d, c->f, root))
			return c;
	}
	return NULL;
}
