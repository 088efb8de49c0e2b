/* Where a step stands. */
#ifndef LEAT_STREAM_STATE_STEPS_H
#define LEAT_STREAM_STATE_STEPS_H

#include "stream/state/state.h"

/* True if all its instances ended (well or not) and none will start. */
bool leat_step_is_over(const struct leat_step_state *st);
/* True if it is over, did not fail and none of its processes holds a file open for writing. */
bool leat_step_is_quiet(const struct leat_step_state *st);
/* True if all the steps that produce what `rule` governs are over. */
bool leat_producers_are_over(const struct leat_stream *s, const struct leat_file_rule *rule);

#endif
