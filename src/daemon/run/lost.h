/* Processes of steps that could not speak with the daemon: what they read and wrote is not to be
 * trusted, whatever their step says at its end. */
#ifndef LEAT_DAEMON_RUN_LOST_H
#define LEAT_DAEMON_RUN_LOST_H

#include "daemon/core/state.h"

/* Hear of all that have left a word where they could: their steps cannot end well any more. Event
 * loop only. */
void leat_lost_collect(struct leat_daemon *d);

/* A process of `step`, or one that was refused, for that reason. */
void leat_lost_note(struct leat_daemon *d, int step, const char *why);

/* Is the workflow's directory where it was? If not, that is reported for all that run, once. */
void leat_lost_directory(struct leat_daemon *d);

#endif
