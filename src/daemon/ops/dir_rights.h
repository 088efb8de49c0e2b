/* Directories that steps look at while earlier steps may still change their rights: no step waits
 * for that, and one that has seen another mode or owner than in a batch is named. Event loop only.
 */
#ifndef LEAT_DAEMON_OPS_DIR_RIGHTS_H
#define LEAT_DAEMON_OPS_DIR_RIGHTS_H

#include "daemon/ops/request.h"

/* The step is about to look at the directory that was found. */
void leat_dir_rights_note(const struct leat_request *r);
/* The step is about to change the rights of the directory that was found. */
void leat_dir_rights_change(const struct leat_request *r);
void leat_dir_rights_free(struct leat_daemon *d);

#endif
