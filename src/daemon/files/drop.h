/* Files that are not retained. Event loop only. */
#ifndef LEAT_DAEMON_FILES_DROP_H
#define LEAT_DAEMON_FILES_DROP_H

#include "daemon/core/state.h"

/* Somebody needs the whole file: nothing of it may go from now on. 0, or -EIO: something has,
 * which is reported. */
int leat_file_retain(struct leat_daemon *d, struct leat_file *f);

int leat_handle_drop(struct leat_conn *c, const void *msg);

#endif
