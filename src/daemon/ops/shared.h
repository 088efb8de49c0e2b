/* Files that several steps write, as they declare. */
#ifndef LEAT_DAEMON_OPS_SHARED_H
#define LEAT_DAEMON_OPS_SHARED_H

#include "daemon/ops/request.h"

/* The file of the request is about to be opened for writing: if other steps write it, too, all who
 * have it open are to report (WRITTEN) where they write from now on. */
void leat_shared_begin(struct leat_request *r);

/* How long it was when that began; 0: it is not such a file, or is not there. To be asked when all
 * that is written without the kernel has ended (leat_file_settle). */
uint64_t leat_shared_length(const struct leat_request *r);

#endif
