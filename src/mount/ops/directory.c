/* Directories are listed by the daemon, which knows both places and what the step may see. */
#include "mount/daemon/ask.h"
#include "mount/files/handle.h"
#include "mount/files/listing.h"
#include "mount/files/open_files.h"
#include "mount/names/handle.h"
#include "mount/names/node.h"
#include "mount/ops/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	struct leat_mount_listing *l = leat_handle_of(fi)->listing;
	char *out = malloc(size);
	struct leat_mount_call call;
	ssize_t n;

	if (!out) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	n = leat_mount_call_init(&call, req);
	if (!n) {
		leat_handles_list(call.m, ino);
		n = leat_listing_read(&call, l, (uint64_t)offset, out, size);
	}
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_buf(req, out, (size_t)n);
	free(out);
}

static int open_directory(struct leat_mount_call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const int flags = O_RDONLY | O_DIRECTORY;
	const struct leat_msg_resolve what = {.op = LEAT_OP_OPEN, .flags = (uint32_t)flags};
	struct leat_mount_location location;
	struct leat_handle *h;
	char path[PATH_MAX];
	int rc = leat_node_path(call->m, ino, NULL, path);

	leat_node_by_path(call->m, ino, call->tid);
	if (!rc)
		rc = leat_mount_resolve(call, &what, path, &location);
	if (!rc)
		rc = leat_handle_open(call, ino, &location, flags, 0, &h);
	if (rc)
		return rc;
	h->listing = leat_listing_new(path);
	if (!h->listing) {
		leat_handle_close(call, h);
		return -ENOMEM;
	}
	h->unlisted = true;
	/* The kernel is to ask who looks at it by the descriptor. */
	leat_fuse_invalidate(call->m->session, ino);
	fi->fh = (uint64_t)(uintptr_t)h;
	return 0;
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	if (!rc)
		rc = open_directory(&call, ino, fi);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_open(req, fi);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_mount_call call;

	(void)ino;
	if (leat_mount_call_init(&call, req))
		call.connection = NULL;
	leat_handle_close(&call, leat_handle_of(fi));
	fuse_reply_err(req, 0);
}

/* The directory may be in both places. */
static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	fuse_reply_err(req, fsync(leat_handle_of(fi)->fd) < 0 ? errno : 0);
}

void leat_ops_add_directories(struct fuse_lowlevel_ops *ops)
{
	ops->opendir = op_opendir;
	ops->readdir = op_readdir;
	ops->releasedir = op_release;
	ops->fsyncdir = op_fsyncdir;
}
