/* How long a step ran, waited and worked. */
#include "timeline/result.h"

static uint64_t wall_ns(const struct leat_step_result *s)
{
	return s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0;
}

uint64_t leat_step_wall_ns(const struct leat_result *r, const struct leat_step_result *s)
{
	uint64_t end_ns = s->end_ns ? s->end_ns : r->end_ns;

	return end_ns > s->start_ns ? end_ns - s->start_ns : 0;
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

bool leat_result_is_disturbed(const struct leat_result *r)
{
	uint64_t others_ns = r->cpu_used_ns > r->cpu_own_ns ? r->cpu_used_ns - r->cpu_own_ns : 0;

	/* Where CPUs are idle, others take nothing away; and clocks tick. */
	return r->cpu_ns && others_ns > r->cpu_ns / 10 + 50000000u &&
	       r->cpu_used_ns > r->cpu_ns / 4 * 3;
}
