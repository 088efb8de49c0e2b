/* What a call on one name is answered, by the state of that. */
#ifndef LEAT_STREAM_RULES_ANSWER_H
#define LEAT_STREAM_RULES_ANSWER_H

#include "stream/state/state.h"

/* Decide any call but LIST, LAUNCH and MORE. With LEAT_WAIT `blocker` says for what, beside `n`. */
enum leat_answer leat_decide_name(const struct leat_stream *s, const struct leat_name_state *n,
				  const struct leat_question *q, struct leat_blocker *blocker);

/* The step that is still to make the missing directory `dir`, to whose outputs in it `step` comes,
 * or of which it `looks` whether it is there; -1: none. */
int leat_directory_maker(const struct leat_stream *s, int step, const char *dir, bool looks);

/* Another producer that comes before the producer `step`, and is still at the file; -1: there is
 * none, or `step` has made or changed that itself. `looks`: it goes by what it finds there, and
 * also one without an order is meant that the batch runs before. */
int leat_maker_before(const struct leat_stream *s, const struct leat_name_state *n, int step,
		      bool looks);

#endif
