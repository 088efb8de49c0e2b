/* A file goes from one state to another, and who follows it is told. */
#ifndef LEAT_STREAM_RULES_TRANSITION_H
#define LEAT_STREAM_RULES_TRANSITION_H

#include "stream/state/state.h"

/* `n` comes to be in another state, which is told at once. */
void leat_name_set_state(struct leat_stream *s, struct leat_name_state *n,
			 enum leat_file_state state);

#endif
