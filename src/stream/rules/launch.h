/* Steps that are launched for versions of their inputs, one after another. */
#ifndef LEAT_STREAM_RULES_LAUNCH_H
#define LEAT_STREAM_RULES_LAUNCH_H

#include "stream/flow/links.h"

/* May the consumer open this version now? */
bool leat_link_is_open(struct leat_stream *s, const struct leat_flow_link *link,
		       const struct leat_delivery *d);
int leat_fact_launch(struct leat_stream *s, const struct leat_event *ev);
/* As leat_decide (rules/decide.h), of MORE: a further launch of a step. */
enum leat_answer leat_decide_more(struct leat_stream *s, const struct leat_question *q,
				  struct leat_blocker *blocker);

#endif
