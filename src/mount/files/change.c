/* Changes of names, which the daemon makes. */
#include "mount/files/change.h"
#include "mount/daemon/wait.h"
#include "mount/files/handle.h"

#include <errno.h>

static int change_once(struct leat_mount_call *call, enum leat_change what, uint32_t flags,
		       const char *first, const char *second, uint32_t *slot, uint32_t *seq)
{
	const struct leat_msg_answer *answer =
		(const struct leat_msg_answer *)call->connection->msg;
	struct leat_msg_change *m = leat_connection_begin(call->connection, LEAT_MSG_CHANGE);
	int rc;

	m->change = what;
	m->flags = flags;
	rc = leat_wire_put(m, first);
	if (!rc)
		rc = leat_wire_put(m, second ? second : "");
	if (!rc)
		rc = leat_connection_roundtrip(call->connection, LEAT_MSG_ANSWER);
	if (rc)
		return rc;
	*slot = answer->slot;
	*seq = answer->seq;
	return answer->error;
}

int leat_mount_change(struct leat_mount_call *call, enum leat_change what, uint32_t flags,
		      const char *first, const char *second)
{
	uint32_t slot = 0, seq = 0;
	int rc = leat_handles_settle(call);

	while (!rc) {
		rc = change_once(call, what, flags, first, second, &slot, &seq);
		if (rc != -EAGAIN)
			break;
		rc = leat_mount_sleep(call, slot, seq);
	}
	return rc;
}
