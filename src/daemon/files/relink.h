/* Names of one file, hard links, on disk. Event loop only. */
#ifndef LEAT_DAEMON_FILES_RELINK_H
#define LEAT_DAEMON_FILES_RELINK_H

#include "daemon/core/state.h"

/* What are names of one file in the store, and are saved, become so on disk; a pair that cannot is
 * a warning. When the run is over and all is saved, and before a staged step. */
void leat_files_relink(struct leat_daemon *d);

#endif
