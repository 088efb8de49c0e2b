/* Permanent files: jobs that bring them to disk, and the end of the run. */
#ifndef LEAT_DAEMON_KEEP_H
#define LEAT_DAEMON_KEEP_H

#include "base/json.h"
#include "daemon/internal.h"

/* The file is final: bring it to disk, in the background. */
void leat_keep_file(struct leat_daemon *d, struct leat_file *f);
/* Its name is gone or another: what a running job makes is not wanted. */
void leat_keep_forget(struct leat_daemon *d, struct leat_file *f);
/* Make the renames of finished jobs last. */
void leat_keep_sync_dirs(struct leat_daemon *d);
/* When no job runs any more. */
void leat_keep_free(struct leat_daemon *d);
/* True when nothing is queued or running. */
bool leat_keep_idle(const struct leat_daemon *d);

/* ---- copy_up.c ---- */

/* Copy what is on disk only into the store, in the background: -EAGAIN until
 * its waiters are woken, then the error of the last attempt, if it failed. */
int leat_copy_up(struct leat_daemon *d, struct leat_file *f);

/* ---- finish.c ---- */

/* Everything that must be done before the run has ended well; answers who asked
 * to FINISH once the last job is done. */
void leat_finish_begin(struct leat_daemon *d);
/* A job is done: go on if that was the last. */
void leat_finish_continue(struct leat_daemon *d);

/* ---- report.c ---- */

/* Write the document to `out`. */
void leat_report_status(struct leat_daemon *d, FILE *out);
/* The same; true if all went well. */
bool leat_report_summary(struct leat_daemon *d, FILE *out);

#endif
