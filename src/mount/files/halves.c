/* A directory may have two halves, in the store and on disk: as src/preload/path/halves.c. */
#include "mount/files/halves.h"
#include "mount/files/change.h"
#include "mount/names/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void leat_half_note(struct leat_mount_half *h, const struct leat_mount_call *call, int fd)
{
	h->is_dir = fd >= 0 && fstat(fd, &h->st) == 0 && S_ISDIR(h->st.st_mode);
	h->in_store = h->is_dir && h->st.st_dev == call->m->store_dev;
}

/* An O_PATH descriptor goes by its link in /proc. */
static void take_back(struct leat_mount_call *call, const struct leat_mount_half *h, int fd)
{
	const struct timespec times[2] = {h->st.st_atim, h->st.st_mtim};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	leat_mount_become(call);
	if (chown(path, h->st.st_uid, h->st.st_gid) < 0 || chmod(path, h->st.st_mode & 07777) < 0 ||
	    utimensat(AT_FDCWD, path, times, 0) < 0)
		errno = 0; /* the error that is reported is the one before */
	leat_mount_become_self(call);
}

int leat_half_changed(struct leat_mount_call *call, const struct leat_mount_half *h, fuse_ino_t ino,
		      int fd, unsigned flags)
{
	char path[PATH_MAX];
	int rc;

	if (!h->is_dir)
		return 0;
	rc = leat_node_path(call->m, ino, NULL, path);
	if (!rc)
		rc = leat_mount_change(call, LEAT_CHANGE_ALIKE,
				       flags | (h->in_store ? LEAT_ALIKE_FROM_STORE : 0), path,
				       NULL);
	if (rc)
		take_back(call, h, fd);
	return rc;
}
