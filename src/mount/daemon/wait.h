/* Waiting for what the daemon or a file's record will say. */
#ifndef LEAT_MOUNT_DAEMON_WAIT_H
#define LEAT_MOUNT_DAEMON_WAIT_H

#include "client/await.h"
#include "mount/daemon/call.h"

/* How a call waits. */
struct leat_mount_awaiter {
	struct leat_awaiter wait;
	struct leat_mount_call *call; /* borrowed */
};
void leat_mount_awaiter_init(struct leat_mount_awaiter *a, struct leat_mount_call *call);

/* Is the caller to die? */
bool leat_mount_call_is_stopped(const struct leat_mount_call *call);
/* Wait for a change of the record from `seq`. 0: look again. */
int leat_mount_sleep(struct leat_mount_call *call, uint32_t slot, uint32_t seq);
/* As leat_await_whole and leat_await_actions. */
int leat_mount_await_whole(struct leat_mount_call *call, uint32_t slot);
int leat_mount_await_actions(struct leat_mount_call *call, uint32_t slot, uint64_t ofd,
			     bool closed);
/* Take the call off the daemon's list of those who wait. */
void leat_mount_cancel(struct leat_mount_call *call);
/* Wait until [offset, offset+length) can be read or the file is final (*final). */
int leat_mount_wait_covered(struct leat_mount_call *call, uint32_t slot, uint64_t offset,
			    uint64_t length, bool *final);

#endif
