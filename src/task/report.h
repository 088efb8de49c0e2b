/* What was achieved: tasks, times and bandwidth for each kind and device, and what was learned. */
#ifndef LEAT_TASK_REPORT_H
#define LEAT_TASK_REPORT_H

#include "task/runtime.h"

/* Write it to `path`, as JSON if that ends in .json, "-" being standard error. No thread is left
 * that runs tasks. 0 or -errno, said unless `quiet`. */
int leat_tasks_report(struct leat_tasks *t, const char *path, bool quiet);

#endif
