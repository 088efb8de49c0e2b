/* The order of two steps in a batch. */
#include "stream/conflicts/order.h"

enum leat_order leat_order_of(const struct leat_stream *s, int a, int b)
{
	bool before, after;

	if (a == b)
		return LEAT_SAME;
	before = leat_is_upstream(s->m, a, b);
	after = leat_is_upstream(s->m, b, a);
	if (before && after)
		return LEAT_LOOP;
	return before ? LEAT_BEFORE : after ? LEAT_AFTER : LEAT_NO_ORDER;
}

bool leat_order_ends_before(const struct leat_stream *s, int a, int b)
{
	enum leat_order order = leat_order_of(s, a, b);

	return order == LEAT_BEFORE || (order == LEAT_NO_ORDER && leat_runs_before(s->m, a, b));
}

bool leat_steps_within(const struct leat_stream *s, const uint64_t *set, int step)
{
	int first = leat_steps_next(set, 0, s->n_steps);

	return first == s->n_steps ||
	       (first == step && leat_steps_next(set, step + 1, s->n_steps) == s->n_steps);
}

bool leat_order_is_early(const struct leat_stream *s, int o, int step)
{
	enum leat_order order = leat_order_of(s, o, step);

	return order == LEAT_AFTER || order == LEAT_NO_ORDER;
}

int leat_order_early(const struct leat_stream *s, const uint64_t *set, const uint64_t *but,
		     int step)
{
	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps))
		if (leat_order_is_early(s, o, step) && !(but && leat_steps_has(but, o)))
			return o;
	return -1;
}
