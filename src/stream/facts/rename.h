/* Contents change their names. */
#ifndef LEAT_STREAM_FACTS_RENAME_H
#define LEAT_STREAM_FACTS_RENAME_H

#include "stream/state/state.h"

int leat_fact_rename(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_unlink(struct leat_stream *s, const struct leat_event *ev);

#endif
