/* Hints: what in a report a person may want to change. */
#ifndef LEAT_REPORT_HINTS_H
#define LEAT_REPORT_HINTS_H

#include "report/report.h"

/* Find them, the dearest first, into r->hints. 0 or -ENOMEM. */
int leat_report_find_hints(struct leat_report *r);

#endif
