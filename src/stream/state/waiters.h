/* Calls that were answered WAIT. */
#ifndef LEAT_STREAM_STATE_WAITERS_H
#define LEAT_STREAM_STATE_WAITERS_H

#include "stream/state/state.h"

/* NULL: it does not wait. */
struct leat_waiter *leat_waiter_find(const struct leat_stream *s, uint64_t id);
void leat_waiter_free(struct leat_stream *s, struct leat_waiter *w);
/* Let `w` be looked at again when `b` changes. */
void leat_waiter_block(struct leat_stream *s, struct leat_waiter *w, const struct leat_blocker *b);
/* It is to look again, whatever for. */
void leat_waiter_wake(struct leat_stream *s, struct leat_waiter *w);

#endif
