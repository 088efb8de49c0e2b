/* Directories that a consumer looks at by their paths while its inputs in them still come: it does
 * not wait, and what time it sees is not the last. Who gives that to a directory of its own (cp -a)
 * is named. Event loop only. */
#ifndef LEAT_DAEMON_OPS_DIR_LOOKS_H
#define LEAT_DAEMON_OPS_DIR_LOOKS_H

#include "daemon/core/state.h"

/* `step` is about to look at the directory `path`. */
void leat_dir_looks_note(struct leat_daemon *d, int step, const char *path);
/* `step` has set the times of the directory `path` in `root`. */
void leat_dir_looks_check(struct leat_daemon *d, int step, enum leat_root root, const char *path);
void leat_dir_looks_free(struct leat_daemon *d);

#endif
