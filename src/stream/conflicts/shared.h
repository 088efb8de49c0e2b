/* Files that several steps write, as they declare: each may write a part of its own, whoever comes
 * first. What one writes where another has written depends on chance. Source:
 * docs/explanation/conflicts.md. */
#ifndef LEAT_STREAM_CONFLICTS_SHARED_H
#define LEAT_STREAM_CONFLICTS_SHARED_H

#include "stream/state/state.h"

/* It is opened for writing by `ev->step`; the descriptions' part has been made. 0 or -ENOMEM. */
int leat_share_open(struct leat_stream *s, const struct leat_name_state *n,
		    const struct leat_event *ev);
/* A description of the step begins to write. */
void leat_share_begin(struct leat_content *c, int step, bool appends);
int leat_fact_written(struct leat_stream *s, const struct leat_event *ev);
/* `step` gives `c` the length, by that name. 0 or -ENOMEM. */
int leat_share_cut(struct leat_stream *s, const struct leat_name_state *n, struct leat_content *c,
		   int step, uint64_t length);
/* What a staged step has made by that name is found on disk: before it takes the place of what is
 * there (reported if another step has made that), and after. Of other steps: nothing. 0 or -ENOMEM.
 */
int leat_share_adopt(struct leat_stream *s, const struct leat_name_state *n, int step);
int leat_share_adopted(struct leat_stream *s, struct leat_content *c, int step, uint64_t length);

#endif
