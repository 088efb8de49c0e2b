/* What a step may do under --enforce: read its inputs and what it writes, write its outputs
 * (docs/howto/enforce.md). Every function says 0 to all when that was not asked for. Event loop
 * only. */
#ifndef LEAT_DAEMON_OPS_ENFORCE_H
#define LEAT_DAEMON_OPS_ENFORCE_H

#include "daemon/ops/change_request.h"
#include "daemon/ops/request.h"

/* A RESOLVE whose name was found: 0, or -EACCES, which has been reported. */
int leat_enforce_resolve(const struct leat_request *r);

/* A CHANGE whose names were found; of what is not there nothing is said. As above. */
int leat_enforce_change(const struct leat_change_request *r, uint32_t change);

/* The names in directory `name`. As above. */
int leat_enforce_list(struct leat_conn *c, const char *name);

/* May the client report that it has written a file, or read it (`write` false)? */
bool leat_enforce_fact(const struct leat_conn *c, const struct leat_file *f, bool write);

/* The step's command is this file, if it lies in the workflow's directory: the step may read and
 * execute it. 0 or -ENOMEM. */
int leat_enforce_program(struct leat_daemon *d, int step, const char *path);

void leat_enforce_free(struct leat_daemon *d);

#endif
