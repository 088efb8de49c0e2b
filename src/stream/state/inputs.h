/* The inputs of a step, seen with the steps that may make them. */
#ifndef LEAT_STREAM_STATE_INPUTS_H
#define LEAT_STREAM_STATE_INPUTS_H

#include "stream/state/state.h"

/* The compiled inputs of a step, as many as the model has; NULL when out of memory. */
struct leat_input *leat_inputs(struct leat_stream *s, int step);
void leat_inputs_free(struct leat_stream *s, int step);

#endif
