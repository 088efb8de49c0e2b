/* The ends of steps. Whoever looks after a step may report its end while the kernel still takes
 * down another of its processes, as `timeout` kills itself with what it has started. What that one
 * wrote belongs to the step, and so does its death: a process that is left behind is one that could
 * go on. Event loop only. */
#ifndef LEAT_DAEMON_RUN_ENDING_H
#define LEAT_DAEMON_RUN_ENDING_H

#include "daemon/core/state.h"

void leat_endings_init(struct leat_daemon *d);

/* `c` says that an instance of the step has ended with `status`, as from waitpid, for `reason` (may
 * be NULL). The end is applied, and answered, when nobody of the step is dying any more, or after a
 * bounded time. */
void leat_ending_begin(struct leat_conn *c, int step, int status, const char *reason);
/* Does the end of an instance of the step wait? */
bool leat_ending_of(const struct leat_daemon *d, int step);
/* Nobody waits for that connection's answer any more. */
void leat_ending_forget(struct leat_conn *c);
/* Apply all that wait, now. */
void leat_endings_apply(struct leat_daemon *d);

#endif
