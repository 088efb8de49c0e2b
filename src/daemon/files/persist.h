/* Permanent files: jobs that bring them to disk. Event loop only. */
#ifndef LEAT_DAEMON_FILES_PERSIST_H
#define LEAT_DAEMON_FILES_PERSIST_H

#include "daemon/core/state.h"

/* Why a file cannot be written whose directory others may rename. */
#define LEAT_PERSIST_UNLIKE                                                                        \
	" (its directory, or one above it, has another owner or mode on disk than in the run)"

/* The file is final: bring it to disk, in the background. */
void leat_file_persist(struct leat_daemon *d, struct leat_file *f);
/* Its name is gone or another: what a running job makes is not wanted. */
void leat_file_persist_cancel(struct leat_daemon *d, struct leat_file *f);
/* While jobs are running in `dir` for files that are gone, which leaves it not empty on disk: the
 * file on which to wait for them. NULL: none is. */
struct leat_file *leat_files_await_persist(struct leat_daemon *d, const char *dir);
/* Make the renames of finished jobs last. */
void leat_files_sync_dirs(struct leat_daemon *d);
/* When no job runs any more. */
void leat_files_persist_free(struct leat_daemon *d);
/* True when nothing is queued or running. */
bool leat_files_persist_idle(const struct leat_daemon *d);

#endif
