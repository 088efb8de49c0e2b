/* Steps of which nothing more is to come. Event loop only. */
#ifndef LEAT_DAEMON_RUN_SETTLED_H
#define LEAT_DAEMON_RUN_SETTLED_H

#include "daemon/core/state.h"

/* Is all that the step makes final and, if permanent, on disk, the step having ended well?
 * 0, -EAGAIN not yet, -EIO never. */
int leat_step_settled(struct leat_daemon *d, int step);

#endif
