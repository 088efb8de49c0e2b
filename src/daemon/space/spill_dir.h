/* The directory for what the store has no space for: where --spill-dir says, else in the
 * workflow's; or beside that if there are staged steps, who would list it. Event loop only. */
#ifndef LEAT_DAEMON_SPACE_SPILL_DIR_H
#define LEAT_DAEMON_SPACE_SPILL_DIR_H

#include "daemon/core/state.h"

/* A directory that was asked for is made at once, the default one when it is needed.
 * 0, or -errno and one line for a person. */
int leat_spill_init(struct leat_daemon *d, char *error, size_t error_size);
/* A staged step begins: the directory is made, and in its way if that is in the workflow's. */
void leat_spill_show(struct leat_daemon *d);
/* When no move runs any more. */
void leat_spill_release(struct leat_daemon *d);
/* Is it there? Else it is made. */
bool leat_spill_is_ready(struct leat_daemon *d);
/* The name of a spilled file for clients: below the workflow's directory, or
 * absolute. 0 or -ENAMETOOLONG. */
int leat_spill_name(const struct leat_daemon *d, const char *name, char out[PATH_MAX]);

#endif
