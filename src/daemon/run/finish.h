/* The end of a run. Event loop only. */
#ifndef LEAT_DAEMON_RUN_FINISH_H
#define LEAT_DAEMON_RUN_FINISH_H

#include "daemon/core/state.h"

/* Everything that must be done before the run has ended well; answers who asked
 * to FINISH once the last job is done. */
void leat_finish_begin(struct leat_daemon *d);
/* Go on with that if it waited for files to be closed. */
void leat_finish_retry(struct leat_daemon *d);
/* Nothing is on its way to disk any more: go on if that was what the end waited for. */
void leat_finish_continue(struct leat_daemon *d);
/* Fail what is not committed, saying why; then end when running jobs are done. */
void leat_finish_abort(struct leat_daemon *d, const char *why);

#endif
