/* Steps that wait for each other for ever: found, reported and ended. Event loop only. */
#ifndef LEAT_DAEMON_RUN_DEADLOCK_H
#define LEAT_DAEMON_RUN_DEADLOCK_H

#include "daemon/core/state.h"

void leat_deadlock_init(struct leat_daemon *d);
/* By the clock: does nothing move any more, and will nothing? Now and then who waits for whom is
 * reported, too. */
void leat_deadlock_look(struct leat_daemon *d);

#endif
