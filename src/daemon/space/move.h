/* Moving a file between store and spill directory, in the background. Event loop only. */
#ifndef LEAT_DAEMON_SPACE_MOVE_H
#define LEAT_DAEMON_SPACE_MOVE_H

#include "daemon/core/state.h"

/* That run at once: libuv's pool has more threads, but others need them, too. */
#define LEAT_MAX_MOVES 2u

/* Begin to move a file between store and spill directory. `live`: although it is open;
 * else it must not be; process `pid`, if not 0, follows. 0; -EBUSY: not now; -ENOTSUP: it cannot be
 * moved; -errno. `moved` is called when it is over, whatever came of it. */
int leat_move_start(struct leat_daemon *d, struct leat_file *f, bool live, pid_t pid,
		    void (*moved)(struct leat_daemon *d));

#endif
