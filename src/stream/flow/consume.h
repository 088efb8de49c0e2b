/* What consumers do with versions: take them, read them, go on to the next. */
#ifndef LEAT_STREAM_FLOW_CONSUME_H
#define LEAT_STREAM_FLOW_CONSUME_H

#include "stream/flow/sequence.h"

int leat_fact_take(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_read(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_return(struct leat_stream *s, const struct leat_event *ev);
/* What it has is taken if it has read and closed it, and may go on. */
void leat_cursor_settle(struct leat_stream *s, struct leat_cursor *p, bool launch_over);
/* Version `n` is complete: who has read all that there was while it grew has read it. */
void leat_takes_complete(struct leat_stream *s, const struct leat_name_state *n);
/* Has a rank of the step closed version `n` after it read all of it there was, which may be all
 * there will be? */
bool leat_takes_doubt(const struct leat_stream *s, const struct leat_name_state *n, int step);
void leat_takes_free(struct leat_stream *s);

#endif
