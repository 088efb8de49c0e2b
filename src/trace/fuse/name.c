/* Names: looked up, made, removed, renamed. */
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct overlay *o = overlay_of(req);
	struct fuse_entry_param e;
	int rc = node_look(o, node_of(o, parent), name, &e);

	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_entry(req, &e);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	node_forget(overlay_of(req), ino, lookups);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		node_forget(overlay_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

/* Something was made under that name, or `error` says why not. */
static void reply_made(fuse_req_t req, fuse_ino_t parent, const char *name, int error)
{
	struct overlay *o = overlay_of(req);
	struct fuse_entry_param e;
	int rc = error ? -error : node_look(o, node_of(o, parent), name, &e);

	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_entry(req, &e);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct overlay *o = overlay_of(req);
	int error;

	become(o, req);
	error = mkdirat(node_fd(node_of(o, parent)), name, mode) < 0 ? errno : 0;
	be_self(o);
	reply_made(req, parent, name, error);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	struct overlay *o = overlay_of(req);
	int error;

	become(o, req);
	error = mknodat(node_fd(node_of(o, parent)), name, mode, dev) < 0 ? errno : 0;
	be_self(o);
	reply_made(req, parent, name, error);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct overlay *o = overlay_of(req);
	int error;

	become(o, req);
	error = symlinkat(target, node_fd(node_of(o, parent)), name) < 0 ? errno : 0;
	be_self(o);
	reply_made(req, parent, name, error);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct overlay *o = overlay_of(req);
	char door[32];
	int error;

	node_door(node_of(o, ino), door);
	error = linkat(AT_FDCWD, door, node_fd(node_of(o, parent)), name, AT_SYMLINK_FOLLOW) < 0
			? errno
			: 0;
	reply_made(req, parent, name, error);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(node_fd(node_of(overlay_of(req), ino)), "", target, PATH_MAX - 1);

	if (n < 0) {
		fuse_reply_err(req, errno);
		return;
	}
	target[n] = '\0';
	fuse_reply_readlink(req, target);
}

static uint64_t id_of(struct overlay *o, const struct statx *x)
{
	uint64_t id;

	pthread_mutex_lock(&o->lock);
	id = file_id_of(o, x);
	pthread_mutex_unlock(&o->lock);
	return id;
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct overlay *o = overlay_of(req);
	struct node *dir = node_of(o, parent);
	struct moment m = moment_of(req);
	char path[PATH_MAX];
	struct statx before;
	bool known = node_statx(dir, name, &before) == 0;
	bool named = node_path(dir, name, path);
	uint64_t id = known ? id_of(o, &before) : 0;
	int rc = unlinkat(node_fd(dir), name, 0) < 0 ? -errno : 0;

	record_name(o, &m, LEAT_TRACE_UNLINK, rc, id, named ? path : NULL, NULL, 0);
	if (!rc && known)
		file_id_removed(o, &before);
	fuse_reply_err(req, -rc);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct overlay *o = overlay_of(req);
	int rc = unlinkat(node_fd(node_of(o, parent)), name, AT_REMOVEDIR);

	fuse_reply_err(req, rc < 0 ? errno : 0);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t to_parent,
		      const char *to_name, unsigned flags)
{
	struct overlay *o = overlay_of(req);
	struct node *dir = node_of(o, parent), *to_dir = node_of(o, to_parent);
	struct moment m = moment_of(req);
	char path[PATH_MAX], to[PATH_MAX];
	struct statx before, replaced;
	bool known = node_statx(dir, name, &before) == 0;
	bool replaces = node_statx(to_dir, to_name, &replaced) == 0;
	bool named = node_path(dir, name, path), to_named = node_path(to_dir, to_name, to);
	uint64_t id = known ? id_of(o, &before) : 0;
	int rc = renameat2(node_fd(dir), name, node_fd(to_dir), to_name, flags) < 0 ? -errno : 0;

	record_name(o, &m, LEAT_TRACE_RENAME, rc, id, named ? path : NULL, to_named ? to : NULL, 0);
	if (!rc && replaces && !(flags & RENAME_EXCHANGE) &&
	    !(known && replaced.stx_ino == before.stx_ino))
		file_id_removed(o, &replaced);
	fuse_reply_err(req, -rc);
}

void ops_add_names(struct fuse_lowlevel_ops *ops)
{
	ops->lookup = op_lookup;
	ops->forget = op_forget;
	ops->forget_multi = op_forget_multi;
	ops->mkdir = op_mkdir;
	ops->mknod = op_mknod;
	ops->symlink = op_symlink;
	ops->link = op_link;
	ops->readlink = op_readlink;
	ops->unlink = op_unlink;
	ops->rmdir = op_rmdir;
	ops->rename = op_rename;
}
