/* What the steps of a streamed run waited for, by its event log. One thread at a time. */
#ifndef LEAT_REPORT_WAITS_H
#define LEAT_REPORT_WAITS_H

#include "report/report.h"

/* Add up the waits of a log into found->waits, and into the tasks that are its steps. What is
 * malformed is left out, and counted. 0 or -errno. */
int leat_report_read_waits(const char *log, struct leat_report_found *found);

#endif
