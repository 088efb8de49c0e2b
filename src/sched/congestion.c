#include "sched/congestion.h"

double leat_congestion_mbps(const struct leat_congestion *model, double bandwidth_mbps,
			    uint64_t tasks)
{
	double k = (double)tasks;
	double over = k > model->knee ? k - model->knee : 0;

	if (!tasks)
		return 0;
	return model->peak * bandwidth_mbps * k / (k + model->ramp) / (1 + over / model->slope);
}
