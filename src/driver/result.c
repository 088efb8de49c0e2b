#include "driver/result.h"

#include <errno.h>
#include <stdlib.h>

int leat_result_init(struct leat_result *r, const struct leat_workflow *wf)
{
	*r = (struct leat_result){.n_steps = wf->n_steps};
	r->steps = calloc(wf->n_steps ? wf->n_steps : 1, sizeof(*r->steps));
	if (!r->steps)
		return -ENOMEM;
	for (size_t i = 0; i < wf->n_steps; i++)
		r->steps[i].name = wf->steps[i].name;
	return 0;
}

void leat_result_release(struct leat_result *r)
{
	free(r->steps);
	free(r->samples);
	*r = (struct leat_result){0};
}

void leat_result_sample(struct leat_result *r)
{
	uint8_t *row;

	if (r->n_samples == r->samples_room) {
		size_t room = r->samples_room ? 2 * r->samples_room : 256;
		uint8_t *grown = reallocarray(r->samples, room, r->n_steps);

		if (!grown)
			return;
		r->samples = grown;
		r->samples_room = room;
	}
	row = r->samples + r->n_samples++ * r->n_steps;
	for (size_t i = 0; i < r->n_steps; i++)
		row[i] = r->steps[i].counters.waiting > 0;
}

uint64_t leat_step_wait_ns(const struct leat_step_result *s)
{
	uint64_t wall_ns = s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0;

	return s->counters.wait_ns < wall_ns ? s->counters.wait_ns : wall_ns;
}
