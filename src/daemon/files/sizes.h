/* Sizes of files: the kernel's may be ahead of a file's length; and what was relied on before it
 * was final. Event loop only. */
#ifndef LEAT_DAEMON_FILES_SIZES_H
#define LEAT_DAEMON_FILES_SIZES_H

#include "daemon/core/state.h"

/* What the kernel says of it, by `probe` or, if that is -1, by its name; its length becomes
 * f->size. `root` may be NULL. 0 or -errno. */
int leat_file_measure(struct leat_daemon *d, struct leat_file *f, int probe, struct stat *st,
		      enum leat_root *root);
/* Make the kernel's size the length; `shut`: and have it stay so. False: not now, as a client is
 * in the middle of a write and does not get on. */
bool leat_file_settle(struct leat_daemon *d, const struct leat_file *f, bool shut);
/* The same when nobody has it open for writing any more; `probe`: a descriptor of it, or -1. */
void leat_file_settle_closed(struct leat_daemon *d, const struct leat_file *f, int probe);

/* Files in d->early_due are complete: who relied on a smaller size than theirs is named. */
void leat_sizes_judge(struct leat_daemon *d);

#endif
