/* Files of several names: links made in the run. Rules, and who declares what, go by names. So what
 * a step changes by one name concerns who reads the file by another, whose rule does not know of
 * the step. Source: docs/explanation/conflicts.md. */
#ifndef LEAT_STREAM_CONFLICTS_ALIASES_H
#define LEAT_STREAM_CONFLICTS_ALIASES_H

#include "stream/state/state.h"

/* `step` was let at the file by that name. */
void leat_alias_note_reader(struct leat_name_state *n, int step);
/* The step whose end, or, if `by` is set, whose file of that name `step` has to wait for, before it
 * reads `n` (`changes`: changes it), since in a batch it ends before; -1: none. */
int leat_alias_before(const struct leat_stream *s, const struct leat_name_state *n, int step,
		      bool changes, struct leat_name_state **by);
/* Has a step changed the file by another name that in a batch has not done so yet when `step` reads
 * `n`, or perhaps? */
bool leat_alias_is_early(const struct leat_stream *s, const struct leat_name_state *n, int step);
/* `step` reads `n`: that is reported, once for a file. */
void leat_alias_read(struct leat_stream *s, const struct leat_name_state *n, int step);
/* `step` begins to change the file by the name `by`: who has got at it by another name, and would
 * have found it changed in a batch, or changed it later there, is reported, once for a file.
 * 0 or -ENOMEM. */
int leat_alias_changed(struct leat_stream *s, struct leat_content *c,
		       const struct leat_name_state *by, int step, enum leat_use use);

#endif
