/* What leat has in the workflow's directory itself. Listings of steps that are streamed leave it
 * out; a staged step, which nobody intercepts, finds it. Event loop only. */
#ifndef LEAT_DAEMON_FILES_SHOWN_H
#define LEAT_DAEMON_FILES_SHOWN_H

#include "daemon/core/state.h"

/* `name` is there, or was a moment ago: each staged step that runs is warned of, once. `remedy` is
 * how to have it elsewhere, or "". */
void leat_shown_note(struct leat_daemon *d, const char *name, const char *remedy);

#endif
