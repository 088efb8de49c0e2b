/* Records of what the server answers, in the trace buffer of the trace. */
#ifndef LEAT_MOUNT_RECORD_TRACEBUF_H
#define LEAT_MOUNT_RECORD_TRACEBUF_H

#include "mount/daemon/call.h"
#include "mount/record/recorder.h"

/* A record of process `pid`, with space for `text` bytes, stamped as the end of `call`, or (NULL)
 * as a moment. NULL: it is lost, and counted. Nothing may wait until leat_record_done. */
struct leat_tracebuf_record *leat_record_begin(struct leat_recorder *r, uint8_t type, pid_t pid,
					       const struct leat_mount_call *call, size_t text);
/* It goes into the trace buffer; texts that were added end at `end`, NULL: there are none. */
void leat_record_done(struct leat_recorder *r, struct leat_tracebuf_record *record,
		      const char *end);
/* Adds a text at `at`: where it ends. */
char *leat_record_put(struct leat_tracebuf_record *record, char *at, const char *text);

#endif
