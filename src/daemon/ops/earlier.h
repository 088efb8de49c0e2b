/* What a step that comes before in a batch may still do with a name: its end, or its close, is
 * waited for. Event loop only. Source: docs/explanation/conflicts.md. */
#ifndef LEAT_DAEMON_OPS_EARLIER_H
#define LEAT_DAEMON_OPS_EARLIER_H

#include "daemon/ops/change_request.h"
#include "daemon/ops/request.h"

/* Before the name of a path call is used so: 0, an error as the rules say, or -EAGAIN: wait on
 * r->file. */
int leat_earlier_await(struct leat_request *r, enum leat_use use);
/* The same of one of the names of a change; -EAGAIN: wait on r->on. */
int leat_earlier_await_change(struct leat_change_request *r, const char *name, enum leat_use use);

#endif
