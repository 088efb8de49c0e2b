/* Steps that run without interception, on files on disk. Event loop only. */
#ifndef LEAT_DAEMON_RUN_STAGED_H
#define LEAT_DAEMON_RUN_STAGED_H

#include "daemon/core/state.h"

/* May it start? 0 and its inputs are on disk; -EAGAIN; -errno never. `on` is
 * set to the file to wait on. */
int leat_staged_launch(struct leat_daemon *d, int step, struct leat_file **on);
/* Why it never may, after leat_staged_launch said `rc`, in words; the caller frees it.
 * NULL when out of memory. */
char *leat_staged_obstacle(struct leat_daemon *d, int step, int rc);
/* It has ended: what it made on disk becomes known to the rules. */
void leat_staged_adopt(struct leat_daemon *d, int step);

#endif
