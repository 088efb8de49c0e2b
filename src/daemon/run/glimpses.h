/* Names that streamed steps use while a staged step is to come, or runs, that goes before them: it
 * must not change them any more. Event loop only. */
#ifndef LEAT_DAEMON_RUN_GLIMPSES_H
#define LEAT_DAEMON_RUN_GLIMPSES_H

#include "daemon/core/state.h"

/* `step` uses `name`. What a staged step has changed since it was used first is reported. 0 or
 * -ENOMEM. */
int leat_glimpses_note(struct leat_daemon *d, int step, const char *name);
/* The staged `step` has ended: what it has changed is reported. */
void leat_glimpses_report(struct leat_daemon *d, int step);
void leat_glimpses_free(struct leat_daemon *d);

#endif
