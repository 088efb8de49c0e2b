/* Descriptions are closed, and processes end. */
#ifndef LEAT_STREAM_FACTS_CLOSE_H
#define LEAT_STREAM_FACTS_CLOSE_H

#include "stream/state/state.h"

int leat_fact_close(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_exit(struct leat_stream *s, const struct leat_event *ev);

#endif
