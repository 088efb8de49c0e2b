/* A file goes from one state to another, and those who wait for it are woken. */
#ifndef LEAT_STREAM_RULES_TRANSITION_H
#define LEAT_STREAM_RULES_TRANSITION_H

#include "stream/state/lifecycle.h"

/* If that is news, `n` is in another state, which is reported at once: true. */
bool leat_name_set_state(struct leat_stream *s, struct leat_name_state *n,
			 enum leat_file_state state);
/* The same, by what has happened to it. */
bool leat_name_advance(struct leat_stream *s, struct leat_name_state *n,
		       enum leat_file_event event);

#endif
