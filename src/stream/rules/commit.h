/* The commit rules: which state a name must be in. Reads, changes nothing.
 *
 * Every rule falls back to the end of the producers: once all of them ended
 * well, there is nothing more to come. */
#ifndef LEAT_STREAM_RULES_COMMIT_H
#define LEAT_STREAM_RULES_COMMIT_H

#include "stream/state/state.h"

/* How many closes count for `n`, which has a content. */
unsigned leat_commit_closes(const struct leat_name_state *n);
/* The state `n` must be in now. */
enum leat_file_state leat_commit_evaluate(const struct leat_stream *s,
					  const struct leat_name_state *n);
/* True if for `step`, itself a producer, all *other* producers are done with `n`, but for those
 * that other files put after it. */
bool leat_commit_others_done(const struct leat_stream *s, const struct leat_name_state *n,
			     int step);
/* Why `n` failed; the caller frees it. */
char *leat_commit_why(const struct leat_stream *s, const struct leat_name_state *n);

#endif
