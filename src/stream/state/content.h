/* Contents: what open descriptions, renames and links act on. */
#ifndef LEAT_STREAM_STATE_CONTENT_H
#define LEAT_STREAM_STATE_CONTENT_H

#include "stream/state/state.h"

/* A new content shown by `n` (which had none). NULL when out of memory. */
struct leat_content *leat_content_new(struct leat_stream *s, struct leat_name_state *n, int creator,
				      bool is_dir);
void leat_content_attach(struct leat_stream *s, struct leat_content *c, struct leat_name_state *n);
/* Take the content away from its name; freed if nothing refers to it any more. */
void leat_content_detach(struct leat_stream *s, struct leat_name_state *n);
/* Free it if nothing refers to it. */
void leat_content_release(struct leat_stream *s, struct leat_content *c);
/* The part of step `step`, or NULL if it did nothing. */
struct leat_part *leat_content_find_part(const struct leat_content *c, int step);
/* The same, made if need be. NULL when out of memory. */
struct leat_part *leat_content_part(struct leat_stream *s, struct leat_content *c, int step);
/* Touch all names that show `c`. */
void leat_content_touch(struct leat_stream *s, struct leat_content *c);
/* Remember an empty close / let one count or not / drop all of a content. */
void leat_pending_add(struct leat_stream *s, struct leat_content *c, const struct leat_ofd *o);
void leat_pending_drop(struct leat_stream *s, struct leat_content *c);
/* Process {node, pid} ended: its empty closes count if it ended normally. */
void leat_pending_exit(struct leat_stream *s, int node, int pid, bool normally);
/* The same for all processes behind the mount of this server (eventlog/event.h). */
void leat_pending_exit_behind(struct leat_stream *s, int server, bool normally);

#endif
