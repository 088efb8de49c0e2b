/* What follows from the metrics of an analysis. */
#include "report/analyse.h"

uint64_t leat_edge_bytes(const struct leat_report_edge *p, enum leat_way way)
{
	return p->ways[way] ? p->ways[way]->sum.bytes : 0;
}

uint64_t leat_edge_unique(const struct leat_report_edge *p, enum leat_way way)
{
	uint64_t bytes = leat_edge_bytes(p, way), unique;

	if (!bytes)
		return 0;
	unique = leat_coverage_bytes(&p->ways[way]->coverage);
	return unique && unique < bytes ? unique : bytes;
}

bool leat_edge_is_estimate(const struct leat_report_edge *p)
{
	for (int way = 0; way < LEAT_WAYS; way++)
		if (p->ways[way] && !leat_coverage_is_exact(&p->ways[way]->coverage))
			return true;
	return false;
}

int64_t leat_task_begin_ns(const struct leat_report_task *t)
{
	if (t->began_ns && t->ended_ns > t->began_ns)
		return t->began_ns;
	return t->first_ns;
}

int64_t leat_task_run_ns(const struct leat_report_task *t)
{
	if (t->began_ns && t->ended_ns > t->began_ns)
		return t->ended_ns - t->began_ns;
	return t->last_ns > t->first_ns ? t->last_ns - t->first_ns : 0;
}

double leat_edge_bulkiness(const struct leat_analysis *a, const struct leat_report_edge *p)
{
	int64_t run_ns = leat_task_run_ns(&a->tasks[p->task]);
	double share;

	if (!p->first_ns)
		return -1;
	if (run_ns <= 0 || p->last_ns <= p->first_ns)
		return 0;
	share = 100.0 * (double)(p->last_ns - p->first_ns) / (double)run_ns;
	return share < 100 ? share : 100;
}

uint64_t leat_calls_time_ns(const struct leat_calls calls[LEAT_ANALYSIS_TYPES])
{
	uint64_t sum = 0;

	for (int i = 0; i < LEAT_ANALYSIS_TYPES; i++)
		sum += calls[i].time_ns;
	return sum;
}
