/* Steps of which nothing more is to come. Event loop only. */
#ifndef LEAT_DAEMON_RUN_SETTLED_H
#define LEAT_DAEMON_RUN_SETTLED_H

#include "daemon/core/state.h"

enum leat_settled {
	LEAT_SETTLED,
	LEAT_SETTLED_NOT_YET,
	LEAT_SETTLED_NEVER, /* something has failed */
};

/* Is all that the step makes final and, if permanent, on disk, the step having ended well? */
enum leat_settled leat_step_settled(struct leat_daemon *d, int step);

#endif
