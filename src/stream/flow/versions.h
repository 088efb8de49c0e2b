/* Flow control: which version of a file each step sees, and who waits for whom (Wilkins (2024)
 * Sec. 3.6). A version is a name like any other (model/version.h); here it is counted for the
 * links it concerns. */
#ifndef LEAT_STREAM_FLOW_VERSIONS_H
#define LEAT_STREAM_FLOW_VERSIONS_H

#include "stream/state/state.h"

/* All that this folder keeps, and the ports. */
void leat_flow_free(struct leat_stream *s);
/* Producer `step` made a content under a name: if that is a version, it is counted. */
void leat_versions_made(struct leat_stream *s, struct leat_name_state *n, int step);
/* Has somebody opened `n` as the next version of its name, and not changed it yet? */
bool leat_version_is_prepared(const struct leat_stream *s, const struct leat_name_state *n);
/* The last description of a content was closed: it is released if it has no name any more, or was
 * opened as the next version of one, and nothing was changed. */
void leat_versions_untouched(struct leat_stream *s, struct leat_content *c);
/* Its producer takes the content of `n` from it: with a version that was not begun goes the name,
 * and the version before must not show by it again. */
void leat_versions_leave(struct leat_stream *s, const struct leat_name_state *n);
/* A step removes a name. True: it is a complete version, and gone for its producer only. */
bool leat_versions_removed(struct leat_stream *s, struct leat_name_state *n, int step);
/* The state of a name has changed. */
void leat_versions_changed(struct leat_stream *s, struct leat_name_state *n);
/* A step has ended: nobody waits for it to take anything. */
void leat_versions_step_over(struct leat_stream *s, int step);
/* Must `step` wait before it makes version `n`? `*blocker` is then who has not taken the one
 * before. */
bool leat_versions_hold(const struct leat_stream *s, const struct leat_name_state *n, int step,
			int *blocker);
/* Does the step see only what is complete, whatever the rule says? */
bool leat_versions_whole(const struct leat_stream *s, const struct leat_name_state *n, int step);

#endif
