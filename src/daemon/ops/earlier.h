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
/* Another connection was allowed to make the file, and is perhaps just doing so: what that has
 * made, or cut, is what is found. True: wait on it. `is_there`: it has been found. */
bool leat_earlier_is_making(struct leat_conn *c, struct leat_file *f, bool is_there);

#endif
