/* Names and the tree they form. */
#ifndef LEAT_STREAM_STATE_NAMES_H
#define LEAT_STREAM_STATE_NAMES_H

#include "stream/state/state.h"

/* The state of `text`, or NULL if it was never mentioned. */
struct leat_name_state *leat_name_find(const struct leat_stream *s, const char *text);
/* The same, made if need be with the directories above and what its rule depends
 * on. NULL when out of memory (s->error is set). */
struct leat_name_state *leat_name_get(struct leat_stream *s, const char *text);
void leat_names_free(struct leat_stream *s);
bool leat_name_is_dir(const struct leat_name_state *n);
/* See leat_stream_is_replaced. */
bool leat_name_is_replaced(const struct leat_name_state *n);
/* Is a directory, `n` or one above it, complete by the number of its files? */
bool leat_name_is_counted_out(const struct leat_name_state *n);
/* True if a listing by a consumer may show it: committed and there, or growing
 * under no_update. */
bool leat_name_is_shown(const struct leat_name_state *n);
/* Bring the counters of the directories above and `shown` up to date. Due at
 * once when a content or its names change: a directory is looked at only when
 * the event is over, and must not see a file that moves within it twice, or not
 * at all. */
void leat_name_account(struct leat_stream *s, struct leat_name_state *n);
/* True if `step` is a declared producer of `n`. */
bool leat_name_produced_by(const struct leat_name_state *n, int step);
/* Append a link. False when out of memory (s->error is set). */
bool leat_link_add(struct leat_stream *s, struct leat_link **list, struct leat_name_state *n);
void leat_links_free(struct leat_link *list);

#endif
