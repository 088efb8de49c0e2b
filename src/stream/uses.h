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
	struct leat_range at; /* SHARED: the bytes, if any in particular */
};

enum leat_conflict {
	LEAT_CONFLICT,
	LEAT_CONFLICT_APPENDED,
	LEAT_CONFLICT_PRIVATE,
	LEAT_CONFLICT_TAKEN,  /* a consumer removed what an earlier step looks for */
	LEAT_CONFLICT_SHARED, /* two producers write over each other's parts */
};

/* Tell it, in words. */
void leat_conflict_tell(struct leat_stream *s, const struct leat_clash *k, enum leat_conflict kind);

/* Is there nobody in the set but `step`? */
bool leat_steps_within(const struct leat_stream *s, const uint64_t *set, int step);

/* `step` makes the file of that name anew. `other`: a step without an order with it, or after it,
 * that did so before, or -1. 0 or -ENOMEM. */
int leat_uses_remake(struct leat_stream *s, const char *name, int step, int *other);

/* A conflict of two producers of that name is to be told: `*told`: one was told before. 0 or
 * -ENOMEM. */
int leat_uses_tell(struct leat_stream *s, const char *name, bool *told);

/* A name that is a declared output: may `step` use it so, without a word? */
bool leat_declared_allows(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  enum leat_use use);
/* Is it not there because a consumer has taken it away that in a batch begins after `step` ends? */
bool leat_declared_is_taken(const struct leat_stream *s, const struct leat_name_state *n, int step);
/* The same of the names in directory `dir`, which `step` lists: told. 0 or -ENOMEM. */
int leat_declared_list(struct leat_stream *s, const struct leat_name_state *dir, int step);
/* If not: find out whether it has done harm. 0 or -ENOMEM. */
int leat_declared_use(struct leat_stream *s, const struct leat_event *ev,
		      const struct leat_file_rule *rule);

#endif
