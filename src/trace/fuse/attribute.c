/* Attributes of files and of the file system. */
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Nothing is taken to last: what is outside may change at any time. */
#define NO_TIME 0.0

static void reply_attributes(fuse_req_t req, fuse_ino_t ino)
{
	struct overlay *o = overlay_of(req);
	struct statx x;
	struct stat st;
	int rc = node_statx(node_of(o, ino), "", &x);

	if (rc) {
		fuse_reply_err(req, -rc);
		return;
	}
	stat_of(&x, &st);
	show(o, &st);
	fuse_reply_attr(req, &st, NO_TIME);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	reply_attributes(req, ino);
}

static int set_owner(struct node *node, const struct stat *st, int to_set)
{
	uid_t uid = to_set & FUSE_SET_ATTR_UID ? st->st_uid : (uid_t)-1;
	gid_t gid = to_set & FUSE_SET_ATTR_GID ? st->st_gid : (gid_t)-1;

	return fchownat(node_fd(node), "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0
		       ? -errno
		       : 0;
}

static int set_size(struct overlay *o, const struct moment *m, struct node *node, off_t size,
		    struct fuse_file_info *fi)
{
	struct handle *h = fi ? handle_of(fi) : NULL;
	char door[32], path[PATH_MAX];
	struct statx x;
	uint64_t id = 0;
	int rc;

	node_door(node, door);
	rc = (h ? ftruncate(h->fd, size) : truncate(door, size)) < 0 ? -errno : 0;
	if (h) {
		record_data(o, m, h, LEAT_TRACE_TRUNCATE, rc, 0, (uint64_t)size, h->flags);
		return rc;
	}
	if (!node_path(node, NULL, path))
		return rc;
	if (node_statx(node, "", &x) == 0) {
		pthread_mutex_lock(&o->lock);
		id = file_id_of(o, &x);
		pthread_mutex_unlock(&o->lock);
	}
	record_name(o, m, LEAT_TRACE_TRUNCATE, rc, id, path, NULL, (uint64_t)size);
	return rc;
}

static struct timespec time_to_set(const struct timespec *t, int to_set, int this, int now)
{
	if (to_set & now)
		return (struct timespec){.tv_nsec = UTIME_NOW};
	return to_set & this ? *t : (struct timespec){.tv_nsec = UTIME_OMIT};
}

static int set_times(struct node *node, const struct stat *st, int to_set)
{
	const struct timespec times[2] = {
		time_to_set(&st->st_atim, to_set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW),
		time_to_set(&st->st_mtim, to_set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW)};

	return utimensat(node_fd(node), "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int to_set,
		       struct fuse_file_info *fi)
{
	struct overlay *o = overlay_of(req);
	struct node *node = node_of(o, ino);
	struct moment m = moment_of(req);
	char door[32];
	int rc = 0;

	node_door(node, door);
	if (to_set & FUSE_SET_ATTR_MODE && chmod(door, st->st_mode) < 0)
		rc = -errno;
	if (!rc && to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		rc = set_owner(node, st, to_set);
	if (!rc && to_set & FUSE_SET_ATTR_SIZE)
		rc = set_size(o, &m, node, st->st_size, fi);
	if (!rc && to_set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |
			     FUSE_SET_ATTR_MTIME_NOW))
		rc = set_times(node, st, to_set);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		reply_attributes(req, ino);
}

static void op_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	char door[32];

	node_door(node_of(overlay_of(req), ino), door);
	fuse_reply_err(req, access(door, mask) < 0 ? errno : 0);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;
	char door[32];

	node_door(node_of(overlay_of(req), ino), door);
	if (statvfs(door, &st) < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_statfs(req, &st);
}

/* ---- extended attributes ---- */

/* `n` bytes of `bytes`, or as many as there are (size 0), or -errno. */
static void reply_bytes(fuse_req_t req, ssize_t n, const char *bytes, size_t size)
{
	if (n < 0)
		fuse_reply_err(req, errno);
	else if (size)
		fuse_reply_buf(req, bytes, (size_t)n);
	else
		fuse_reply_xattr(req, (size_t)n);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	char door[32], *bytes = malloc(size ? size : 1);
	ssize_t n = -1;

	node_door(node_of(overlay_of(req), ino), door);
	if (bytes)
		n = getxattr(door, name, bytes, size);
	reply_bytes(req, n, bytes, size);
	free(bytes);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	char door[32], *bytes = malloc(size ? size : 1);
	ssize_t n = -1;

	node_door(node_of(overlay_of(req), ino), door);
	if (bytes)
		n = listxattr(door, bytes, size);
	reply_bytes(req, n, bytes, size);
	free(bytes);
}

static void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value,
			size_t size, int flags)
{
	char door[32];

	node_door(node_of(overlay_of(req), ino), door);
	fuse_reply_err(req, setxattr(door, name, value, size, flags) < 0 ? errno : 0);
}

static void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	char door[32];

	node_door(node_of(overlay_of(req), ino), door);
	fuse_reply_err(req, removexattr(door, name) < 0 ? errno : 0);
}

void ops_add_attributes(struct fuse_lowlevel_ops *ops)
{
	ops->getattr = op_getattr;
	ops->setattr = op_setattr;
	ops->access = op_access;
	ops->statfs = op_statfs;
	ops->getxattr = op_getxattr;
	ops->listxattr = op_listxattr;
	ops->setxattr = op_setxattr;
	ops->removexattr = op_removexattr;
}
