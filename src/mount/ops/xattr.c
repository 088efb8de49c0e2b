/* Extended attributes. */
#include "mount/daemon/ask.h"
#include "mount/files/halves.h"
#include "mount/files/open_files.h"
#include "mount/files/other.h"
#include "mount/files/rights.h"
#include "mount/names/node.h"
#include "mount/ops/ops.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>

/* An O_PATH descriptor's name in /proc stands for the file itself. */
static int open_path(struct leat_mount_call *call, fuse_ino_t ino,
		     const struct leat_msg_resolve *what, char path[64])
{
	struct leat_mount_location location;
	uint32_t slot;
	int fd = -1, rc;

	if (!leat_node_by_path(call->m, ino, call->tid))
		fd = leat_handle_any(call, ino, &slot);
	if (fd < 0) {
		rc = leat_mount_resolve_node(call, ino, what, &location);
		if (rc)
			return rc;
		leat_mount_become(call);
		fd = openat(location.dirfd, location.path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		rc = fd < 0 ? -errno : 0;
		leat_mount_become_self(call);
		if (rc)
			return rc;
	} else if (what->op == LEAT_OP_META &&
		   (rc = leat_rights_may_change(call, ino, slot, what))) {
		leat_close(&fd);
		return rc;
	}
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void reply_value(fuse_req_t req, ssize_t n, const char *value, size_t size)
{
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else if (size)
		fuse_reply_buf(req, value, (size_t)n);
	else
		fuse_reply_xattr(req, (size_t)n);
}

/* getxattr (name), or listxattr (NULL) */
static void read_attribute(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct leat_mount_call call;
	char path[64], *value = malloc(size ? size : 1);
	ssize_t n = value ? leat_mount_call_init(&call, req) : -ENOMEM;
	int fd = n ? (int)n
		   : open_path(&call, ino, &(struct leat_msg_resolve){.op = LEAT_OP_ACCESS}, path);

	n = fd;
	if (fd >= 0) {
		leat_mount_become(&call);
		n = name ? getxattr(path, name, value, size) : listxattr(path, value, size);
		n = n < 0 ? -errno : n;
		leat_mount_become_self(&call);
		leat_close(&fd);
	}
	reply_value(req, n, value, size);
	free(value);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	read_attribute(req, ino, name, size);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	read_attribute(req, ino, NULL, size);
}

/* setxattr, or removexattr (value NULL) */
static void write_attribute(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value,
			    size_t size, int flags)
{
	const struct leat_msg_resolve rights = leat_rights_of_attribute(name, value, size);
	struct leat_mount_call call;
	struct leat_mount_half half;
	char path[64];
	int rc = leat_mount_call_init(&call, req), fd;

	if (!rc)
		rc = leat_other_change(&call, ino);
	fd = rc ? rc : open_path(&call, ino, &rights, path);

	rc = fd < 0 ? fd : 0;
	if (!rc) {
		leat_shm_change_begin(call.m->shm);
		leat_half_note(&half, &call, fd);
		leat_mount_become(&call);
		if ((value ? setxattr(path, name, value, size, flags) : removexattr(path, name)) <
		    0)
			rc = -errno;
		leat_mount_become_self(&call);
		if (!rc)
			rc = leat_half_changed(&call, &half, ino, fd, LEAT_ALIKE_ATTRIBUTES);
		leat_close(&fd);
		leat_shm_change_end(call.m->shm);
	}
	fuse_reply_err(req, -rc);
}

static void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value,
			size_t size, int flags)
{
	write_attribute(req, ino, name, value, size, flags);
}

static void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	write_attribute(req, ino, name, NULL, 0, 0);
}

void leat_ops_add_xattrs(struct fuse_lowlevel_ops *ops)
{
	ops->getxattr = op_getxattr;
	ops->listxattr = op_listxattr;
	ops->setxattr = op_setxattr;
	ops->removexattr = op_removexattr;
}
