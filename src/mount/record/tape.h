/* Records of what the server answers, on the tape of the trace. */
#ifndef LEAT_MOUNT_RECORD_TAPE_H
#define LEAT_MOUNT_RECORD_TAPE_H

#include "mount/daemon/call.h"
#include "mount/record/recorder.h"

/* A record of process `pid`, with room for `text` bytes, stamped as the end of `call`, or (NULL) as
 * a moment. NULL: it is lost, and counted. Nothing may wait until leat_record_done. */
struct leat_tape_record *leat_record_begin(struct leat_recorder *r, uint8_t type, pid_t pid,
					   const struct leat_mount_call *call, size_t text);
/* It goes onto the tape; texts that were added end at `end`, NULL: there are none. */
void leat_record_done(struct leat_recorder *r, struct leat_tape_record *record, const char *end);
/* Adds a text at `at`: where it ends. */
char *leat_record_put(struct leat_tape_record *record, char *at, const char *text);

#endif
