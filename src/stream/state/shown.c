/* Which steps were given the names of a directory. */
#include "stream/state/shown.h"
#include "stream/state/roles.h"

#include <errno.h>

static int note_names(struct leat_name_state *dir, int step)
{
	struct leat_shown_to *l;

	LL_SEARCH_SCALAR(dir->listings, l, step, step);
	if (!l) {
		l = leat_heap_alloc(1, sizeof(*l));
		if (!l)
			return -ENOMEM;
		l->step = step;
		LL_PREPEND(dir->listings, l);
	}
	l->upto = dir->n_shown;
	return 0;
}

void leat_shown_rely(const struct leat_stream *s, struct leat_name_state *dir, int step)
{
	for (; dir; dir = dir->parent)
		dir->relied = dir->relied || (dir->state == LEAT_FILE_COMMITTED &&
					      leat_step_consumes(s, step, dir));
}

int leat_shown_list(const struct leat_stream *s, struct leat_name_state *dir, int step)
{
	if (step < 0)
		return 0;
	leat_shown_rely(s, dir, step);
	return dir->n_shown ? note_names(dir, step) : 0;
}

void leat_shown_free(struct leat_name_state *n)
{
	struct leat_shown_to *l, *next;

	LL_FOREACH_SAFE(n->listings, l, next)
	{
		leat_heap_free(l);
	}
}

uint64_t leat_shown_digest(const struct leat_name_state *n)
{
	const struct leat_shown_to *l;
	uint64_t sum = n->relied;

	LL_FOREACH(n->listings, l)
	{
		sum += ((uint64_t)l->step + 1) * UINT64_C(0x9e3779b97f4a7c15) * (l->upto + 1);
	}
	return sum;
}
