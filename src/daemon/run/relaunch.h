/* Steps that are launched once for each version of their inputs. Event loop only. */
#ifndef LEAT_DAEMON_RUN_RELAUNCH_H
#define LEAT_DAEMON_RUN_RELAUNCH_H

#include "daemon/core/state.h"

/* May the step be launched for a further version? `over`: a launch of it has just ended. LEAT_WAIT:
 * leat_problems_launchable says when to ask again; LEAT_NOENT: never; LEAT_FAILED: nor can it have
 * ended well. */
enum leat_answer leat_step_may_relaunch(struct leat_daemon *d, int step, bool over);
/* The rules wake `name`: is it that of a step that waits so? Then the driver gets an EVENT. */
bool leat_step_look(struct leat_daemon *d, const char *name);

#endif
