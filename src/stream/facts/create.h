/* Names come to show contents. */
#ifndef LEAT_STREAM_FACTS_CREATE_H
#define LEAT_STREAM_FACTS_CREATE_H

#include "stream/state/state.h"

/* Directories above `n` exist, `step` having made what is missing. */
void leat_fact_parents(struct leat_stream *s, struct leat_name_state *n, int step);
int leat_fact_create(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_present(struct leat_stream *s, const struct leat_event *ev);
/* `step` made `n` show a finished content (rename, link, symlink). */
void leat_fact_publish(struct leat_stream *s, struct leat_name_state *n, int step);

#endif
