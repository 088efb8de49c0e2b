/* Changes that break what the workflow file says. */
#ifndef LEAT_STREAM_FACTS_CHECKS_H
#define LEAT_STREAM_FACTS_CHECKS_H

#include "stream/state/state.h"

/* Report it if `step` changes what a step that goes on from it took for all. */
void leat_fact_check_amended(struct leat_stream *s, const struct leat_name_state *n, int step,
			     const char *what);
/* `step`, a consumer, removes it or moves it away, as a batch would do after its producers.
 * Reported if a step has gone by it that comes later there. */
void leat_fact_take_away(struct leat_stream *s, struct leat_name_state *n, int step,
			 enum leat_use use);
/* Report a change of `n` by a step that may not make it (now): as its producer
 * after the commit, or, with `changes`, as a consumer. */
void leat_fact_check_change(struct leat_stream *s, const struct leat_name_state *n, int step,
			    bool changes, const char *what);
/* Report it if a consumer has begun to read what is taken away or replaced under its name. */
void leat_fact_check_streamed(struct leat_stream *s, const struct leat_name_state *n, int step,
			      const char *what);
/* A file may have several names: it is not to be changed after it was passed on by one of them. */
void leat_fact_check_file(struct leat_stream *s, const struct leat_name_state *n, int step,
			  bool changes, const char *what);

#endif
