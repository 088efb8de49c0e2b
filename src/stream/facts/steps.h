/* Beginning and end of steps. */
#ifndef LEAT_STREAM_FACTS_STEPS_H
#define LEAT_STREAM_FACTS_STEPS_H

#include "stream/state/state.h"

int leat_step_start(struct leat_stream *s, const struct leat_event *ev);
int leat_step_end(struct leat_stream *s, const struct leat_event *ev);
int leat_step_closed(struct leat_stream *s, const struct leat_event *ev);

#endif
