/* The order of two steps in a batch. */
#ifndef LEAT_STREAM_CONFLICTS_ORDER_H
#define LEAT_STREAM_CONFLICTS_ORDER_H

#include "stream/state/state.h"

/* How one step stands to another. */
enum leat_order { LEAT_SAME, LEAT_BEFORE, LEAT_AFTER, LEAT_LOOP, LEAT_NO_ORDER };

enum leat_order leat_order_of(const struct leat_stream *s, int a, int b);
/* Does `a` end in a batch before `b` begins? Without an order that goes by how the batch is run. */
bool leat_order_ends_before(const struct leat_stream *s, int a, int b);
/* Does `o` come after `step` in a batch, or have no order with it, so that it was too early if it
 * was the first here? */
bool leat_order_is_early(const struct leat_stream *s, int o, int step);
/* The first such step of `set`, but not of `but` (NULL: none); -1: none. */
int leat_order_early(const struct leat_stream *s, const uint64_t *set, const uint64_t *but,
		     int step);
/* Is there nobody in the set but `step`? */
bool leat_steps_within(const struct leat_stream *s, const uint64_t *set, int step);

#endif
