#include "driver/plan.h"

#include "base/log.h"
#include "driver/mpi.h"
#include "lang/syntax/words.h"

#include <errno.h>
#include <stdlib.h>

/* Of ensembles those instances begin together that are likely to be linked: each has its place
 * between 0 and 1. Steps that all instances need, or that need all of them, have the first. */
static uint64_t place_of(const struct leat_step *step)
{
	return step->ensemble > 1 ? ((uint64_t)step->instance << 32) / step->ensemble : 0;
}

static bool launches_before(const struct leat_plan *plan, const size_t *counts, size_t a, size_t b)
{
	uint64_t place_a = place_of(&plan->wf->steps[a]), place_b = place_of(&plan->wf->steps[b]);

	return place_a == place_b ? counts[a] < counts[b] : place_a < place_b;
}

static bool runs_before(const struct leat_plan *plan, const size_t *counts, size_t a, size_t b)
{
	(void)plan;
	return counts[a] < counts[b];
}

static void sort_steps(const struct leat_plan *plan, const size_t *counts, size_t *order,
		       bool (*before)(const struct leat_plan *plan, const size_t *counts, size_t a,
				      size_t b))
{
	for (size_t i = 0; i < plan->wf->n_steps; i++) {
		size_t at = i;

		for (; at > 0 && before(plan, counts, i, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

int leat_plan_init(struct leat_plan *plan, const struct leat_workflow *wf)
{
	size_t n = wf->n_steps ? wf->n_steps : 1;
	size_t *counts = calloc(n, sizeof(*counts));

	*plan = (struct leat_plan){.wf = wf, .matcher = leat_matcher_new(wf)};
	plan->order = calloc(n, sizeof(*plan->order));
	plan->launches = calloc(n, sizeof(*plan->launches));
	plan->programs = calloc(n, sizeof(*plan->programs));
	plan->mounted = calloc(n, sizeof(*plan->mounted));
	plan->containers = calloc(n, sizeof(*plan->containers));
	if (!counts || !plan->matcher || !plan->order || !plan->launches || !plan->programs ||
	    !plan->mounted || !plan->containers) {
		free(counts);
		leat_plan_release(plan);
		return -ENOMEM;
	}
	for (size_t i = 0; i < wf->n_steps; i++)
		counts[i] = leat_upstream_count(plan->matcher, (int)i);
	sort_steps(plan, counts, plan->order, runs_before);
	sort_steps(plan, counts, plan->launches, launches_before);
	free(counts);
	return 0;
}

void leat_plan_release(struct leat_plan *plan)
{
	for (size_t i = 0; plan->programs && i < plan->wf->n_steps; i++)
		free(plan->programs[i]);
	for (size_t i = 0; plan->containers && i < plan->wf->n_steps; i++)
		leat_image_release(&plan->containers[i].image);
	free(plan->containers);
	free(plan->programs);
	free(plan->mounted);
	leat_words_free(plan->launcher);
	leat_words_free(plan->boxed_launcher);
	free(plan->order);
	free(plan->launches);
	leat_matcher_free(plan->matcher);
	*plan = (struct leat_plan){0};
}

int leat_plan_launcher(struct leat_plan *plan, const char *named)
{
	bool needed = false, boxed = false;

	for (size_t i = 0; i < plan->wf->n_steps; i++) {
		const struct leat_step *step = &plan->wf->steps[i];

		needed |= step->nprocs > 1 && !step->container;
		boxed |= step->nprocs > 1 && step->container;
	}
	if (boxed)
		plan->boxed_launcher = leat_mpi_words(named ? named : "mpirun");
	if (needed)
		plan->launcher = leat_mpi_find(named);
	return (!boxed || plan->boxed_launcher) && (!needed || plan->launcher)
		       ? 0
		       : LEAT_PLAN_NOT_FOUND;
}

bool leat_plan_is_cyclic(const struct leat_plan *plan)
{
	for (size_t a = 0; a < plan->wf->n_steps; a++)
		for (size_t b = a + 1; b < plan->wf->n_steps; b++)
			if (leat_are_on_cycle(plan->matcher, (int)a, (int)b)) {
				leat_error("steps %s and %s need each other's outputs: there is no "
					   "order to run them one after another",
					   plan->wf->steps[a].name, plan->wf->steps[b].name);
				return true;
			}
	return false;
}
