/* Changes of names, which the daemon makes. */
#include "mount/files/change.h"
#include "mount/daemon/wait.h"
#include "mount/files/handle.h"

#include <errno.h>

int leat_mount_change(struct leat_mount_call *call, enum leat_change what, uint32_t flags,
		      const char *first, const char *second)
{
	struct leat_channel_word word;
	int rc = leat_handles_settle(call);

	while (!rc) {
		rc = leat_channel_change(leat_mount_channel(call), what, flags, first, second,
					 &word);
		if (rc != -EAGAIN)
			break;
		rc = leat_mount_sleep(call, word.slot, word.seq);
	}
	return rc;
}
