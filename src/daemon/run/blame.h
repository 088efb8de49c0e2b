/* Which step is to blame for what is missing or has failed. Event loop only. */
#ifndef LEAT_DAEMON_RUN_BLAME_H
#define LEAT_DAEMON_RUN_BLAME_H

#include "daemon/core/state.h"

/* The failed step that is to blame for a file of that rule, or -1. */
int leat_step_culprit(const struct leat_daemon *d, const struct leat_file_rule *rule);
/* The same for a file that nobody has spoken of, by its name: it has no state of its own. */
int leat_step_never_made(struct leat_daemon *d, const char *name);
/* The first of the step's inputs that has failed, a pattern perhaps; NULL: none is known to have.
 */
const char *leat_step_failed_input(const struct leat_daemon *d, int step);
/* How it is to blame, in words; the caller frees it. NULL when out of memory. */
char *leat_step_blame(const struct leat_daemon *d, int step);

#endif
