/* Questions about several names at once: listings, and the launch of a step. */
#ifndef LEAT_STREAM_RULES_INPUTS_H
#define LEAT_STREAM_RULES_INPUTS_H

#include "stream/state/state.h"

/* As leat_decide (rules/decide.h), of LAUNCH and of LIST. */
enum leat_answer leat_decide_launch(struct leat_stream *s, const struct leat_question *q,
				    struct leat_blocker *blocker);
enum leat_answer leat_decide_list(struct leat_stream *s, struct leat_name_state *n,
				  const struct leat_question *q, struct leat_blocker *blocker);

#endif
