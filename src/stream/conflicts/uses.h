/* Which steps used a name, and whether that can have gone as in a batch: two of them use it one
 * after the other there, and here perhaps at the same time. Source: docs/explanation/conflicts.md.
 */
#ifndef LEAT_STREAM_CONFLICTS_USES_H
#define LEAT_STREAM_CONFLICTS_USES_H

#include "stream/conflicts/conflict.h"
#include "stream/state/state.h"

/* A name that no step declares as its output: note its use, and report what has clashed. 0 or
 * -ENOMEM. */
int leat_undeclared_use(struct leat_stream *s, const struct leat_event *ev);
/* Would that be news? */
bool leat_undeclared_is_news(const struct leat_stream *s, int step, const char *name,
			     enum leat_use use);
/* Has a step changed it, in a batch after `step` or at whatever time? */
bool leat_undeclared_is_early(const struct leat_stream *s, int step, const char *name);
/* `step` makes the file of that name anew. `other`: a step without an order with it, or after it,
 * that did so before, or -1. 0 or -ENOMEM. */
int leat_uses_remake(struct leat_stream *s, const char *name, int step, int *other);
/* A step without an order with `step`, or after it, that has removed or replaced the file of that
 * name, or made it anew; -1: none. */
int leat_uses_remaker(const struct leat_stream *s, const char *name, int step);
/* A conflict of two producers of that name is about to be reported. `*before`: one was reported
 * before. 0 or -ENOMEM. */
int leat_uses_mark_reported(struct leat_stream *s, const char *name, bool *before);
/* Report it if it is the first of that name. 0 or -ENOMEM. */
int leat_uses_report_once(struct leat_stream *s, const struct leat_clash *k,
			  enum leat_conflict kind);

/* Is it below a `__pycache__`? Python's compiled modules are replaced whole, and judged by their
 * sources: whoever makes them, they are the same. */
bool leat_uses_is_cache(const char *name);

#endif
