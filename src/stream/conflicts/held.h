/* Declared outputs that steps before their producers have open. What such a step reads or writes by
 * the descriptor is not seen, and in a batch is done before the producer begins. So the producer,
 * and whoever comes after it, waits for the close. */
#ifndef LEAT_STREAM_CONFLICTS_HELD_H
#define LEAT_STREAM_CONFLICTS_HELD_H

#include "stream/state/state.h"

int leat_fact_hold(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_let_go(struct leat_stream *s, const struct leat_event *ev);
void leat_holds_free(struct leat_stream *s);
/* Who has `n` open, and comes before `step`, which is about to read it (`changes`: to change it);
 * -1: nobody. */
int leat_held_before(const struct leat_stream *s, const struct leat_name_state *n, int step,
		     bool changes);

#endif
