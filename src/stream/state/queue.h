/* What is to be looked at again when an event is over: names and steps that were touched, and
 * calls that are woken. */
#ifndef LEAT_STREAM_STATE_QUEUE_H
#define LEAT_STREAM_STATE_QUEUE_H

#include "stream/state/state.h"

/* Its state, and what waits for it, is looked at again. */
void leat_touch(struct leat_stream *s, struct leat_name_state *n);
/* What waits for step `step` looks again; with `names`, so does each name it may produce. */
void leat_touch_step(struct leat_stream *s, int step, bool names);
void leat_touch_links(struct leat_stream *s, const struct leat_link *list);
/* All calls that wait on `n` are woken, to ask again. */
void leat_queue_wake(struct leat_stream *s, struct leat_name_state *n);

#endif
