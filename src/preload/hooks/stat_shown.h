/* What stat(2) shows of directories that have two halves, and of what leat itself has changed. Any
 * thread, async-signal-safe. */
#ifndef LEAT_PRELOAD_HOOKS_STAT_SHOWN_H
#define LEAT_PRELOAD_HOOKS_STAT_SHOWN_H

#include "shm/ctimes.h"

#include <linux/stat.h>

/* As programs expect sizes and link counts. */
void leat_show_stat(struct stat *st);
void leat_show_statx(struct statx *st);

/* `st`, or if that is NULL `stx`, is of the directory `path` on disk: it is shown with the times of
 * its half in the store, if there is one. */
void leat_show_half(const char *path, struct stat *st, struct statx *stx);

/* As leat_shm_ctime_show. */
bool leat_show_ctime_x(const struct leat_shm *shm, uint64_t seen, struct statx *st);

#endif
