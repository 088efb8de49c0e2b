/* Where a step stands. */
#include "stream/state/steps.h"

bool leat_step_is_over(const struct leat_step_state *st)
{
	return st->started == st->ended && (st->closed || st->started >= st->expected);
}

bool leat_step_is_quiet(const struct leat_step_state *st)
{
	return leat_step_is_over(st) && !st->failures && !st->writers;
}

bool leat_producers_are_over(const struct leat_stream *s, const struct leat_file_rule *rule)
{
	for (int step = 0; step < s->n_steps; step++)
		if (leat_steps_has(rule->producers, step) && !leat_step_is_over(&s->steps[step]))
			return false;
	return true;
}
