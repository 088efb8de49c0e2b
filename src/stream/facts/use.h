/* A step uses a name in a way that others may notice. */
#ifndef LEAT_STREAM_FACTS_USE_H
#define LEAT_STREAM_FACTS_USE_H

#include "stream/state/state.h"

int leat_fact_use(struct leat_stream *s, const struct leat_event *ev);

#endif
