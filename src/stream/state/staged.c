#include "stream/state/staged.h"

#include "stream/state/steps.h"

bool leat_step_precedes(const struct leat_stream *s, int a, int b)
{
	const struct leat_step *steps = s->wf->steps;

	return a != b && !steps[a].concurrent && !steps[b].concurrent &&
	       !leat_are_on_cycle(s->m, a, b) && leat_runs_before(s->m, a, b);
}

int leat_staged_before(const struct leat_stream *s, int step, const uint64_t *of)
{
	for (int o = 0; o < s->n_steps && s->staged && step >= 0; o++)
		if (s->steps[o].staged && !leat_step_is_over(&s->steps[o]) &&
		    (!of || leat_steps_has(of, o)) && leat_step_precedes(s, o, step))
			return o;
	return -1;
}
