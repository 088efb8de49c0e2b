/* Rename and link. Event loop only. */
#ifndef LEAT_DAEMON_OPS_RENAME_H
#define LEAT_DAEMON_OPS_RENAME_H

#include "daemon/ops/change_request.h"

/* Each: 0, -EAGAIN with r->on set, or -errno for the program. */
int leat_change_rename(struct leat_change_request *r);
int leat_change_link(struct leat_change_request *r);

#endif
