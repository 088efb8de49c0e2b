/* What is on disk only, and is to be written, is copied into the store first. Event loop only. */
#ifndef LEAT_DAEMON_OPS_COPY_UP_H
#define LEAT_DAEMON_OPS_COPY_UP_H

#include "daemon/ops/request.h"

/* Bring what exists on disk only to where a producer works on it. 0 or -errno. */
int leat_request_copy_up(struct leat_request *r, bool empty);

#endif
