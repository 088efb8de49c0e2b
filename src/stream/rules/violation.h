/* Violations in words. */
#ifndef LEAT_STREAM_RULES_VIOLATION_H
#define LEAT_STREAM_RULES_VIOLATION_H

#include "stream/state/state.h"

/* Report it; `what` says what was done to the name ("truncated"), NULL for the usual. */
void leat_violation_report(struct leat_stream *s, enum leat_violation kind, const char *name,
			   int step, const char *what);
/* Violations that clients report. */
int leat_fact_violation(struct leat_stream *s, const struct leat_event *ev);

#endif
