/* What consumers were shown is a promise: names by listings, and a directory that is complete by
 * the number of its files. What a producer takes back before is as if it had never been. */
#ifndef LEAT_STREAM_FACTS_PROMISES_H
#define LEAT_STREAM_FACTS_PROMISES_H

#include "stream/state/state.h"

/* `step` is about to remove `n`, or to rename it to `to`: a violation if a consumer has found it in
 * a listing, or used it when it was complete. */
void leat_shown_check_loss(struct leat_stream *s, const struct leat_name_state *n, int step,
			   const char *to);
/* `step` has made directory `n`, or (`from`) is about to rename what becomes `n`: a violation if it
 * is in a directory that is complete by the number of its files, and a consumer has gone by that.
 * A file more is seen by the number. */
void leat_shown_check_gain(struct leat_stream *s, const struct leat_name_state *n, int step,
			   const char *from);
/* `step` is about to change rights: a violation if a consumer has gone by what they were. */
int leat_fact_rights(struct leat_stream *s, const struct leat_event *ev);
/* `step` has removed or renamed `n`: directories above that are complete by the number of their
 * files may lack one; they are not complete any more, or, if a consumer has gone by it, it is a
 * violation. */
void leat_shown_recount(struct leat_stream *s, const struct leat_name_state *n, int step);

#endif
