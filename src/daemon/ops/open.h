/* RESOLVE for open and truncate. Event loop only. */
#ifndef LEAT_DAEMON_OPS_OPEN_H
#define LEAT_DAEMON_OPS_OPEN_H

#include "daemon/ops/request.h"

int leat_request_open(struct leat_request *r);
int leat_request_truncate(struct leat_request *r);

#endif
