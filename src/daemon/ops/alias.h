/* Other mounts by which the workflow's directory can be reached, past leat. */
#ifndef LEAT_DAEMON_OPS_ALIAS_H
#define LEAT_DAEMON_OPS_ALIAS_H

#include "daemon/core/state.h"

/* A warning for each of them. At the start of a run. */
void leat_alias_warn(struct leat_daemon *d);

#endif
