/* Several producers of one name, without an order or with one by other files: in a batch they run
 * one after the other. Source: docs/explanation/conflicts.md#declared-outputs. */
#ifndef LEAT_STREAM_CONFLICTS_TURNS_H
#define LEAT_STREAM_CONFLICTS_TURNS_H

#include "stream/state/state.h"

/* A producer looks at the file, or for it, among other producers. What it finds, or misses, though
 * in a batch it would not, is reported, at once, when that changes or at its end. 0 or -ENOMEM. */
int leat_turn_look(struct leat_stream *s, const struct leat_event *ev,
		   const struct leat_file_rule *rule);
/* Would that be news? */
bool leat_turn_look_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
			    int step, const char *name, enum leat_use use);
/* It opens it to write, or makes it: it has looked for it to that end. */
void leat_turn_opened(struct leat_stream *s, const struct leat_name_state *n, int step);
/* It has changed the file, taken it away, or given it its name (`made`: it was not there): who has
 * looked at it before that, but in a batch begins after `step` ends? 0 or -ENOMEM. */
int leat_turn_changed(struct leat_stream *s, const struct leat_name_state *n, int step,
		      enum leat_use use, bool made);
/* The same of a directory: a producer finds it, needs it, makes it or, if it is there already,
 * would have made it. 0 or -ENOMEM. */
int leat_turn_directory(struct leat_stream *s, const struct leat_event *ev,
			const struct leat_file_rule *rule);
/* It has given a directory this name. */
void leat_turn_directory_renamed(struct leat_stream *s, const struct leat_name_state *to, int step);
bool leat_turn_directory_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
				 int step, const char *name, enum leat_use use);
/* It has ended: what it has looked for through a mount, where a look may be the beginning of an
 * open to write, is judged. */
void leat_turn_step_over(struct leat_stream *s, int step);

#endif
