/* Whose the records are: each process behind the mount has a place in the trace buffer, too, so
 * that the tracer sees it end. */
#ifndef LEAT_MOUNT_RECORD_PEOPLE_H
#define LEAT_MOUNT_RECORD_PEOPLE_H

#include "mount/daemon/call.h"

/* The process whose call it is, met if it was not; 0: the kernel's own doing. `opens`: it may run
 * another program since. */
pid_t leat_record_caller(struct leat_mount_call *call, bool opens);
/* Finds the trace buffer by the environment. Sets m->recorder, which stays NULL if there is none,
 * or the server's own calls are recorded already. Before the mount is there. */
void leat_record_init(struct leat_mount *m);
/* Nobody is left behind the mount. */
void leat_record_release(struct leat_mount *m);
/* The program has a file of the workflow open from before its mount: what it does with that is not
 * seen. */
void leat_record_inherited(struct leat_mount *m);
/* The program's process, m->program, is about to become the program. */
void leat_record_program(struct leat_mount *m);
/* Is every read to be asked of the server? */
bool leat_record_wants_calls(const struct leat_mount *m);

#endif
