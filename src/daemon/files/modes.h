/* Modes of complete files. Event loop only. */
#ifndef LEAT_DAEMON_FILES_MODES_H
#define LEAT_DAEMON_FILES_MODES_H

#include "daemon/core/state.h"

/* `step` gives `f`, which it sees as `seen`, another mode: a warning, once for each file, if a
 * later step has seen the one before. */
void leat_mode_changes(struct leat_daemon *d, struct leat_file *f, int step, const char *seen,
		       mode_t was, mode_t is);

#endif
