/* Who may use a file: what a producer changes of it when it is committed is the rules' affair.
 * Event loop only. */
#ifndef LEAT_DAEMON_OPS_RIGHTS_H
#define LEAT_DAEMON_OPS_RIGHTS_H

#include "daemon/ops/request.h"

/* A producer is about to change who may use its file. 0; -EIO: it must not, which is reported. */
int leat_request_check_rights(struct leat_request *r);

#endif
