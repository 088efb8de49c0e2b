/* Standing by while others start the steps. */
#ifndef LEAT_DRIVER_SERVE_H
#define LEAT_DRIVER_SERVE_H

#include "control/control.h"

#include <stdbool.h>

struct leat_serve_config {
	struct leat_control *control; /* borrowed */
	bool timeline;                /* is wanted in the summary */
	double timeout_s;             /* for a step that is waited for; 0: for ever */
	/* Does any step wait now? Asked before the daemon is. */
	bool (*anybody_waits)(void *ctx);
	void *ctx;
};

/* Until SIGINT, SIGTERM, SIGHUP or SIGQUIT, then FINISH. Messages go to the log (the daemon
 * names those who wait, and for whom, every 30 seconds). The exit status for leat
 * serve, and in *summary the daemon's final status, JSON, freed by the caller
 * (NULL if there were none). */
int leat_driver_serve(const struct leat_serve_config *config, char **summary);

#endif
