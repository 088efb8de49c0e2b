/* Files are opened for writing, and written. */
#ifndef LEAT_STREAM_FACTS_WRITE_H
#define LEAT_STREAM_FACTS_WRITE_H

#include "stream/state/state.h"

int leat_fact_write(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_open(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_serve(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_extent(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_truncate(struct leat_stream *s, const struct leat_event *ev);

#endif
