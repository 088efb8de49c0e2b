/* Which steps used a name, and what is told of it; shared by uses.c and conflict.c. */
#ifndef LEAT_STREAM_USES_H
#define LEAT_STREAM_USES_H

#include "stream/internal.h"

/* How one step stands to another. */
enum leat_order { LEAT_SAME, LEAT_BEFORE, LEAT_AFTER, LEAT_LOOP, LEAT_NO_ORDER };

enum leat_order leat_order_of(const struct leat_stream *s, int a, int b);

/* `step` used `name`, and `other` did so before. */
struct leat_clash {
	const char *name; /* borrowed */
	int step, other;
	enum leat_use use, before;
};

enum leat_conflict { LEAT_CONFLICT, LEAT_CONFLICT_APPENDED, LEAT_CONFLICT_PRIVATE };

/* Tell it, in words. */
void leat_conflict_tell(struct leat_stream *s, const struct leat_clash *k, enum leat_conflict kind);

/* Is there nobody in the set but `step`? */
bool leat_steps_within(const struct leat_stream *s, const uint64_t *set, int step);

/* `step` makes the file of that name anew. `other`: a step without an order with it, or after it,
 * that did so before, or -1. 0 or -ENOMEM. */
int leat_uses_remake(struct leat_stream *s, const char *name, int step, int *other);

/* A name that is a declared output: may `step` use it so, without a word? */
bool leat_declared_allows(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  enum leat_use use);
/* If not: find out whether it has done harm. 0 or -ENOMEM. */
int leat_declared_use(struct leat_stream *s, const struct leat_event *ev,
		      const struct leat_file_rule *rule);

#endif
