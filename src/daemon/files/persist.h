/* Permanent files: jobs that bring them to disk, and the end of the run. */
#ifndef LEAT_DAEMON_FILES_PERSIST_H
#define LEAT_DAEMON_FILES_PERSIST_H

#include "base/json.h"
#include "daemon/core/state.h"

/* Why a file cannot be written whose directory others may rename. */
#define LEAT_KEEP_UNLIKE                                                                           \
	" (its directory, or one above it, has another owner or mode on disk than in the run)"

/* The file is final: bring it to disk, in the background. */
void leat_keep_file(struct leat_daemon *d, struct leat_file *f);
/* Its name is gone or another: what a running job makes is not wanted. */
void leat_keep_forget(struct leat_daemon *d, struct leat_file *f);
/* The run is over, and all is saved: what are names of one file in the store become so on disk; a
 * pair that cannot is a warning. */
void leat_keep_links(struct leat_daemon *d);
/* Make the renames of finished jobs last. */
void leat_keep_sync_dirs(struct leat_daemon *d);
/* When no job runs any more. */
void leat_keep_free(struct leat_daemon *d);
/* True when nothing is queued or running. */
bool leat_keep_idle(const struct leat_daemon *d);

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
