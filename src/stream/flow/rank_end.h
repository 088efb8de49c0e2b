/* Ranks of an MPI job that have ended while others go on. */
#ifndef LEAT_STREAM_FLOW_RANK_END_H
#define LEAT_STREAM_FLOW_RANK_END_H

#include "stream/state/state.h"

/* The last process of a rank has ended: it holds nobody up. 1; 0: that is no news; -ENOMEM. */
int leat_rank_end_add(struct leat_stream *s, int step, unsigned rank);
/* It is there. */
void leat_rank_end_remove(struct leat_stream *s, int step, unsigned rank);
bool leat_rank_end_has(const struct leat_stream *s, int step, unsigned rank);
void leat_rank_end_clear(struct leat_stream *s, int step);

#endif
