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

/* When more steps want to run than there are CPUs, each runs at a part of its
 * speed. Steps are taken for one busy thread each. */
static void share_cpus(struct leat_result *r, const uint8_t *waiting)
{
	unsigned running = 0;
	uint64_t lost_ns;

	for (size_t i = 0; i < r->n_steps; i++)
		running += r->steps[i].start_ns && !r->steps[i].end_ns && !waiting[i];
	if (!r->cpus || running <= r->cpus)
		return;
	lost_ns = r->sample_ns * (running - r->cpus) / running;
	for (size_t i = 0; i < r->n_steps; i++)
		if (r->steps[i].start_ns && !r->steps[i].end_ns && !waiting[i])
			r->steps[i].shared_ns += lost_ns;
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
	share_cpus(r, row);
}

static uint64_t wall_ns(const struct leat_step_result *s)
{
	return s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0;
}

uint64_t leat_step_wait_ns(const struct leat_step_result *s)
{
	return s->counters.wait_ns < wall_ns(s) ? s->counters.wait_ns : wall_ns(s);
}

uint64_t leat_step_own_ns(const struct leat_step_result *s)
{
	uint64_t busy_ns = wall_ns(s) - leat_step_wait_ns(s);

	return s->shared_ns < busy_ns ? busy_ns - s->shared_ns : 0;
}
