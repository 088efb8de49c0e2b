/* Steps that use a declared output otherwise than they declare. */
#ifndef LEAT_STREAM_CONFLICTS_DECLARED_H
#define LEAT_STREAM_CONFLICTS_DECLARED_H

#include "stream/state/state.h"

/* Has `step` made the file, or opened it to write? `n` may be NULL. */
bool leat_name_is_made_by(const struct leat_name_state *n, int step);
/* A name that is a declared output: may `step` use it so, without a word? */
bool leat_declared_allows(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  enum leat_use use);
/* If not: find out whether it has done harm. 0 or -ENOMEM. */
int leat_declared_use(struct leat_stream *s, const struct leat_event *ev,
		      const struct leat_file_rule *rule);
/* A producer makes a directory of that name: the step that has removed or replaced the file there,
 * without an order with it, or after it; -1: none, or it is another use. */
int leat_declared_remaker(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  const char *name, enum leat_use use);
/* Is it not there because a consumer has taken it away that in a batch begins after `step` ends? */
bool leat_declared_is_taken(const struct leat_stream *s, const struct leat_name_state *n, int step);
/* The same of the names in directory `dir`, which `step` lists: reported. 0 or -ENOMEM. */
int leat_declared_list(struct leat_stream *s, const struct leat_name_state *dir, int step);

/* The first step that was let at it and in a batch begins after `step` ends, or -1. */
int leat_declared_first_after(const struct leat_stream *s, const struct leat_name_state *n,
			      int step);
/* `step` takes it away. Reported if one was let at it that in a batch begins after that step ends.
 */
void leat_declared_take(struct leat_stream *s, const struct leat_name_state *n, int step,
			enum leat_use use);

#endif
