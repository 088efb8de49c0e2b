/* What a call is answered. */
#ifndef LEAT_STREAM_RULES_DECIDE_H
#define LEAT_STREAM_RULES_DECIDE_H

#include "stream/state/state.h"

/* Decide; with LEAT_WAIT `blocker` says for what, beside `n`. */
enum leat_answer leat_decide(struct leat_stream *s, struct leat_name_state *n,
			     const struct leat_question *q, struct leat_blocker *blocker);

#endif
