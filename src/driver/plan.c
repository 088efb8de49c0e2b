#include "driver/plan.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

static bool on_cycle(const struct leat_plan *plan, size_t a, size_t b)
{
	return a != b && leat_is_upstream(plan->matcher, (int)a, (int)b) &&
	       leat_is_upstream(plan->matcher, (int)b, (int)a);
}

/* Being upstream is transitive, so a step always has more steps upstream than
 * each of those: sorting by their number is a topological order. */
static size_t upstream_count(const struct leat_plan *plan, size_t step)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->wf->n_steps; i++)
		if (i != step && leat_is_upstream(plan->matcher, (int)i, (int)step) &&
		    !on_cycle(plan, i, step))
			n++;
	return n;
}

static void sort_steps(struct leat_plan *plan, const size_t *counts)
{
	for (size_t i = 0; i < plan->wf->n_steps; i++) {
		size_t at = i;

		for (; at > 0 && counts[plan->order[at - 1]] > counts[i]; at--)
			plan->order[at] = plan->order[at - 1];
		plan->order[at] = i;
	}
}

int leat_plan_init(struct leat_plan *plan, const struct leat_workflow *wf)
{
	size_t n = wf->n_steps ? wf->n_steps : 1;
	size_t *counts = calloc(n, sizeof(*counts));

	*plan = (struct leat_plan){.wf = wf, .matcher = leat_matcher_new(wf)};
	plan->order = calloc(n, sizeof(*plan->order));
	plan->programs = calloc(n, sizeof(*plan->programs));
	plan->mounted = calloc(n, sizeof(*plan->mounted));
	if (!counts || !plan->matcher || !plan->order || !plan->programs || !plan->mounted) {
		free(counts);
		leat_plan_release(plan);
		return -ENOMEM;
	}
	for (size_t i = 0; i < wf->n_steps; i++)
		counts[i] = upstream_count(plan, i);
	sort_steps(plan, counts);
	free(counts);
	return 0;
}

void leat_plan_release(struct leat_plan *plan)
{
	for (size_t i = 0; plan->programs && i < plan->wf->n_steps; i++)
		free(plan->programs[i]);
	free(plan->programs);
	free(plan->mounted);
	free(plan->order);
	leat_matcher_free(plan->matcher);
	*plan = (struct leat_plan){0};
}

bool leat_plan_is_cyclic(const struct leat_plan *plan)
{
	for (size_t a = 0; a < plan->wf->n_steps; a++)
		for (size_t b = a + 1; b < plan->wf->n_steps; b++)
			if (on_cycle(plan, a, b)) {
				leat_error("steps %s and %s need each other's outputs: there is no "
					   "order to run them one after another",
					   plan->wf->steps[a].name, plan->wf->steps[b].name);
				return true;
			}
	return false;
}
