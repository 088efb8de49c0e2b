/* How a step stands to a file, by what the workflow file says. */
#ifndef LEAT_STREAM_STATE_ROLES_H
#define LEAT_STREAM_STATE_ROLES_H

#include "stream/state/state.h"

/* True if it is declared, not excluded, and some step produces it. */
bool leat_rule_governs(const struct leat_stream *s, const struct leat_file_rule *rule);
/* How `step` stands to what `rule` governs. */
enum leat_role leat_rule_role(const struct leat_stream *s, int step,
			      const struct leat_file_rule *rule);
/* Does `step` wait for `n`, and read it?. */
bool leat_step_consumes(const struct leat_stream *s, int step, const struct leat_name_state *n);

#endif
