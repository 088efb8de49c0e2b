/* Open descriptions. */
#ifndef LEAT_STREAM_STATE_OFDS_H
#define LEAT_STREAM_STATE_OFDS_H

#include "stream/state/state.h"

/* NULL: there is none of that id. */
struct leat_ofd *leat_ofd_find(const struct leat_stream *s, uint64_t id);
/* The one that `ev`, an OPEN, has opened; it has no content yet. NULL when out of memory. */
struct leat_ofd *leat_ofd_new(struct leat_stream *s, const struct leat_event *ev);
void leat_ofd_free(struct leat_stream *s, struct leat_ofd *o);
/* All of them, with the contents that nothing else refers to. */
void leat_ofds_free(struct leat_stream *s);
/* The content that an event on open files or names speaks of, or NULL. */
struct leat_content *leat_content_of(const struct leat_stream *s, const struct leat_event *ev);

#endif
