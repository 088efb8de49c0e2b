/* Directories on disk that a step has shut for writing (`chmod -R a-w`) before all that it wrote
 * there was saved: they are opened while it is. A batch had written it before. Root may write
 * there. Event loop only. */
#ifndef LEAT_DAEMON_FILES_SHUT_DIRS_H
#define LEAT_DAEMON_FILES_SHUT_DIRS_H

#include "daemon/core/state.h"

/* Give those above `path` that are there, and belong to who runs the daemon, the rights to go in
 * and to write. True if there was one that lacked them. */
bool leat_dirs_open(struct leat_daemon *d, const char *path);
/* Give all of them the mode that they are to have. */
void leat_dirs_shut(struct leat_daemon *d);

#endif
