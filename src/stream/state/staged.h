/* Staged steps: what they do with names that they have not declared nobody sees. */
#ifndef LEAT_STREAM_STATE_STAGED_H
#define LEAT_STREAM_STATE_STAGED_H

#include "stream/state/state.h"

/* The steps of a batch: does `a` end there before `b` begins, and is that not left to chance since
 * either of them shares no names with others? */
bool leat_step_precedes(const struct leat_stream *s, int a, int b);
/* A staged step that precedes `step` and has not ended, or -1. `of`: one of these; NULL: any. */
int leat_staged_before(const struct leat_stream *s, int step, const uint64_t *of);

#endif
