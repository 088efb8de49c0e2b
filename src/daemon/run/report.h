/* Status and summary as JSON: docs/reference/daemon-json.md. Event loop only. */
#ifndef LEAT_DAEMON_RUN_REPORT_H
#define LEAT_DAEMON_RUN_REPORT_H

#include "daemon/core/state.h"

/* Write the document to `out`. */
void leat_report_status(struct leat_daemon *d, FILE *out);
/* The same; true if all went well. */
bool leat_report_summary(struct leat_daemon *d, FILE *out);

#endif
