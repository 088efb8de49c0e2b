/* Calls that were answered WAIT. */
#include "stream/state/waiters.h"
#include "stream/state/queue.h"

struct leat_waiter *leat_waiter_find(const struct leat_stream *s, uint64_t id)
{
	struct leat_waiter *w;

	HASH_FIND(hh, s->waiters, &id, sizeof(id), w);
	return w;
}

static void unblock(struct leat_stream *s, struct leat_waiter *w)
{
	if (w->blocker.name)
		DL_DELETE2(w->blocker.name->blocked, w, b_prev, b_next);
	else if (w->blocker.step >= 0)
		DL_DELETE2(s->steps[w->blocker.step].blocked, w, b_prev, b_next);
	w->blocker = (struct leat_blocker){.step = -1};
}

void leat_waiter_free(struct leat_stream *s, struct leat_waiter *w)
{
	unblock(s, w);
	DL_DELETE(w->on->waiters, w);
	HASH_DEL(s->waiters, w);
	leat_heap_free(w);
}

void leat_waiter_block(struct leat_stream *s, struct leat_waiter *w, const struct leat_blocker *b)
{
	/* Moving within a list would let a walk over it meet `w` again. */
	if (w->blocker.name == b->name && w->blocker.step == b->step)
		return;
	unblock(s, w);
	w->blocker = *b;
	if (b->name)
		DL_APPEND2(b->name->blocked, w, b_prev, b_next);
	else if (b->step >= 0)
		DL_APPEND2(s->steps[b->step].blocked, w, b_prev, b_next);
}

void leat_waiter_wake(struct leat_stream *s, struct leat_waiter *w)
{
	if (w->woken)
		return;
	unblock(s, w);
	w->woken = true;
	leat_queue_wake(s, w->on);
}
