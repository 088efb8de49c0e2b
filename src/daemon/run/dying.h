/* Processes of a step that are being killed while the step ends, and that had an output open. Event
 * loop only. */
#ifndef LEAT_DAEMON_RUN_DYING_H
#define LEAT_DAEMON_RUN_DYING_H

#include "daemon/core/state.h"

/* The step has ended. Is an output of it still open, and a process of it not all gone that has been
 * killed, or ends: so that the output may be closed by that? All is handled that the step's
 * processes have reported before this returns false. */
bool leat_step_is_dying(struct leat_daemon *d, int step);

#endif
