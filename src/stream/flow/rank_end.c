/* Ranks of an MPI job that have ended while others go on. */
#include "stream/flow/rank_end.h"
#include "stream/state/steps.h"

#include <errno.h>

struct leat_rank {
	unsigned rank;
	struct leat_rank *next;
};

static struct leat_rank *find(const struct leat_step_state *st, unsigned rank)
{
	struct leat_rank *r;

	LL_SEARCH_SCALAR(st->ranks_over, r, rank, rank);
	return r;
}

int leat_rank_end_add(struct leat_stream *s, int step, unsigned rank)
{
	struct leat_step_state *st = &s->steps[step];
	struct leat_rank *r;

	if (s->wf->steps[step].nprocs <= 1 || find(st, rank))
		return 0;
	r = leat_heap_alloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->rank = rank;
	LL_PREPEND(st->ranks_over, r);
	return 1;
}

void leat_rank_end_remove(struct leat_stream *s, int step, unsigned rank)
{
	struct leat_rank *r = find(&s->steps[step], rank);

	if (r)
		LL_DELETE(s->steps[step].ranks_over, r);
	leat_heap_free(r);
}

bool leat_rank_end_has(const struct leat_stream *s, int step, unsigned rank)
{
	return leat_step_has_rested(&s->steps[step]) || find(&s->steps[step], rank);
}

void leat_rank_end_clear(struct leat_stream *s, int step)
{
	struct leat_rank *r, *next;

	LL_FOREACH_SAFE(s->steps[step].ranks_over, r, next)
	{
		leat_heap_free(r);
	}
	s->steps[step].ranks_over = NULL;
}
