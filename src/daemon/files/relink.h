/* Names of one file, hard links, on disk. Event loop only. */
#ifndef LEAT_DAEMON_FILES_RELINK_H
#define LEAT_DAEMON_FILES_RELINK_H

#include "daemon/core/state.h"

/* The run is over, and all is saved: what are names of one file in the store become so on disk; a
 * pair that cannot is a warning. */
void leat_files_relink(struct leat_daemon *d);

#endif
