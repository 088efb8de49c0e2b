/* Outputs that a step spells out and, having ended well, has not made. Event loop only. */
#ifndef LEAT_DAEMON_RUN_UNMADE_H
#define LEAT_DAEMON_RUN_UNMADE_H

#include "base/json.h"
#include "daemon/core/state.h"

/* An instance has ended: look which of its outputs are there. */
void leat_unmade_note(struct leat_daemon *d, int step);
/* Has it left one out, as far as is known now? */
bool leat_unmade_any(struct leat_daemon *d, int step);
/* Is one, of any step, an error? */
bool leat_unmade_fails(struct leat_daemon *d);
/* List them for the summary. */
void leat_unmade_put(struct leat_daemon *d, struct leat_json *j);

#endif
