/* What is to be looked at again when an event is over: names and steps that were touched, and
 * calls that are woken. */
#include "stream/state/queue.h"

void leat_touch(struct leat_stream *s, struct leat_name_state *n)
{
	if (n->dirty)
		return;
	n->dirty = true;
	n->dirty_next = NULL;
	if (s->dirty_tail)
		s->dirty_tail->dirty_next = n;
	else
		s->dirty = n;
	s->dirty_tail = n;
}

void leat_touch_step(struct leat_stream *s, int step, bool names)
{
	struct leat_step_state *st = &s->steps[step];

	st->dirty_names = st->dirty_names || names;
	if (st->dirty)
		return;
	st->dirty = true;
	st->dirty_next = s->dirty_step;
	s->dirty_step = step;
}

void leat_touch_links(struct leat_stream *s, const struct leat_link *list)
{
	const struct leat_link *link;

	LL_FOREACH(list, link)
	{
		leat_touch(s, link->name);
	}
}

void leat_queue_wake(struct leat_stream *s, struct leat_name_state *n)
{
	if (n->wake)
		return;
	n->wake = true;
	n->wake_next = NULL;
	if (s->wake_tail)
		s->wake_tail->wake_next = n;
	else
		s->wake = n;
	s->wake_tail = n;
}
