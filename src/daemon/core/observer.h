/* How the lower parts of the daemon call the upper ones, which they do not know. One table,
 * registered before the loop starts (loop/observer.c). Event loop only. */
#ifndef LEAT_DAEMON_CORE_OBSERVER_H
#define LEAT_DAEMON_CORE_OBSERVER_H

#include "daemon/core/state.h"

struct leat_description;

struct leat_daemon_observer {
	/* The client goes on: what the answer to its last RESOLVE let it begin (c->pending,
	 * c->making) it has done, or not. */
	void (*went_on)(struct leat_conn *c);
	/* The connection is about to be dropped; and it has been: its process is forgotten. */
	void (*dropping)(struct leat_conn *c);
	void (*dropped)(struct leat_conn *c);
	/* A process of a step is gone, and everything that it has sent was handled. */
	void (*exited)(struct leat_proc *p);
	/* Files are in d->early_due: they are complete, outside of the rules' callbacks. */
	void (*sizes_due)(struct leat_daemon *d);
	/* The true last close of a description by a step with actions. */
	void (*closed)(struct leat_daemon *d, const struct leat_description *l, bool abnormal);
	/* Nothing is on its way to disk any more. */
	void (*persisted)(struct leat_daemon *d);
};

#endif
