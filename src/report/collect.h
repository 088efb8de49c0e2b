/* What a report is made of: traces read, and their calls added up by task. */
#ifndef LEAT_REPORT_COLLECT_H
#define LEAT_REPORT_COLLECT_H

#include "report/report.h"

/* Reads the traces. 0, or -errno after a message; *found is then empty. */
int leat_report_collect(const struct leat_report_request *request, struct leat_report_found *found);

void leat_report_found_release(struct leat_report_found *found);

#endif
