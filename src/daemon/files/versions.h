/* Versions of files that are of no more use, and those that are the last. Event loop only. */
#ifndef LEAT_DAEMON_FILES_VERSIONS_H
#define LEAT_DAEMON_FILES_VERSIONS_H

#include "daemon/core/state.h"

/* Nobody will read this version any more. */
void leat_versions_unwanted(struct leat_daemon *d, const char *name);

/* The run is over: the last version of what is permanent takes the name. */
void leat_versions_finish(struct leat_daemon *d);

#endif
