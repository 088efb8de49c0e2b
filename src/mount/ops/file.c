/* Opening and closing files, and what goes with an open one. */
#include "mount/daemon/ask.h"
#include "mount/daemon/wait.h"
#include "mount/files/alive.h"
#include "mount/files/handle.h"
#include "mount/files/migrate.h"
#include "mount/files/open_files.h"
#include "mount/files/other.h"
#include "mount/files/write.h"
#include "mount/guard/bypass.h"
#include "mount/names/handle.h"
#include "mount/names/identity.h"
#include "mount/names/node.h"
#include "mount/ops/ops.h"
#include "mount/record/people.h"
#include "mount/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

static bool is_committed(const struct leat_mount_call *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);

	return f && leat_shm_flags(f) & LEAT_SHM_COMMITTED;
}

/* Pages are the kernel's to keep only of files that nobody changes unseen. A file that grows, or is
 * written, is read and written through us, call by call. */
static void choose_cache(struct leat_mount_call *call, fuse_ino_t ino, struct leat_handle *h,
			 struct fuse_file_info *fi)
{
	struct stat st;

	/* What of it is read, the program must have asked for. */
	if (leat_handle_is_version(h) || leat_record_wants_calls(call->m)) {
		fi->direct_io = true;
		return;
	}
	if (leat_handle_back(h, is_committed(call, h) && !writes(h->flags)))
		return;
	if (!leat_handle_is_final(call, h) || h->kind == LEAT_KIND_PUBLISHER || writes(h->flags))
		/* Kernels that do not map such files: who may map it writable gets pages. */
		fi->direct_io = leat_fuse_has(call->m->session, LEAT_FUSE_DIRECT_MMAP) ||
				(h->flags & O_ACCMODE) != O_RDWR || !leat_handle_is_final(call, h);
	else
		fi->keep_cache = fstat(h->fd, &st) == 0 && leat_node_keep_cache(call->m, ino, &st);
}

/* A mapping ends where the kernel takes the file to end, and it asks nobody. It was told at the
 * lookup; the file may have grown since, above all while the open waited. */
static void report_size(const struct leat_mount_call *call, fuse_ino_t ino,
			const struct leat_handle *h)
{
	struct stat st;

	if (h->backing || (h->flags & O_ACCMODE) == O_WRONLY || !leat_handle_is_final(call, h) ||
	    leat_mount_fstat(call, h->slot, h->fd, &st) || !S_ISREG(st.st_mode))
		return;
	if (leat_node_was_reported_less(call->m, ino, (uint64_t)st.st_size))
		leat_fuse_extend(call->m->session, ino, h->fd, (uint64_t)st.st_size);
}

/* Who reads by the mount does not tell how far: all of the file is kept. False: some has gone. */
static bool retain(const struct leat_mount_call *call, const struct leat_mount_location *location)
{
	struct leat_shm_file *f =
		location->kind == LEAT_KIND_CONSUMER ? leat_mount_file(call, location->slot) : NULL;

	return !f || leat_shm_retain(f);
}

static bool is_of_node(const struct leat_mount_call *call, fuse_ino_t ino,
		       const struct leat_handle *h)
{
	struct leat_identity id;
	struct stat st;

	if (leat_identify(h->fd, "", &st, &id))
		return false;
	id.slot = h->slot;
	return leat_node_is(call->m, ino, &st, &id);
}

static int resolve_open(struct leat_mount_call *call, const char *path, int flags, mode_t mode,
			struct leat_mount_location *location)
{
	const struct leat_msg_resolve what = {
		.op = LEAT_OP_OPEN, .flags = (uint32_t)flags | O_NOFOLLOW, .mode = mode};
	int rc = leat_handles_settle(call);

	return rc ? rc : leat_mount_resolve(call, &what, path, location);
}

/* A version may be another one than was looked up, and what was awaited something else than a file.
 */
static bool is_other(const struct leat_mount_call *call, fuse_ino_t ino,
		     const struct leat_handle *h, bool awaited)
{
	return (awaited || leat_handle_is_version(h)) && !is_of_node(call, ino, h);
}

/* What the step's actions say of the open; on an error the handle is closed. */
static int acted(struct leat_mount_call *call, struct leat_handle *h)
{
	int rc = 0;

	if (call->m->acts && h->ofd)
		rc = leat_mount_await_actions(call, h->slot, h->ofd, false);
	if (rc)
		leat_handle_close(call, h);
	return rc;
}

/* Whoever reads 0 bytes of an empty version would be given it for ever. */
static int refuse_stuck(struct leat_mount_call *call, fuse_ino_t ino, const char *path)
{
	if (!leat_node_is_stuck(call->m, ino))
		return 0;
	leat_bypass_fail_unread(call->m, call->tid, path);
	return -EIO;
}

static int open_file(struct leat_mount_call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_mount_location location;
	struct leat_handle *h;
	char path[PATH_MAX];
	bool awaited = leat_node_is_awaited(call->m, ino);
	int rc = leat_node_path(call->m, ino, NULL, path);

	leat_node_by_path(call->m, ino, call->tid);
	if (!rc)
		rc = resolve_open(call, path, fi->flags, 0, &location);
	if (!rc && !retain(call, &location))
		rc = -EIO;
	if (!rc)
		rc = leat_handle_open(call, ino, &location, (int)location.flags, 0, &h);
	/* A name that was expected did not come: the kernel looks again, and may create it. */
	if (rc)
		return rc == -ENOENT && leat_node_missed(call->m, ino, call->tid) ? -ESTALE : rc;
	if (is_other(call, ino, h, awaited)) {
		leat_handle_note_refused(call, h);
		leat_handle_close(call, h);
		return -ESTALE;
	}
	rc = leat_handle_is_version(h) ? refuse_stuck(call, ino, path) : 0;
	if (rc) {
		leat_handle_close(call, h);
		return rc;
	}
	rc = acted(call, h);
	if (rc)
		return rc;
	choose_cache(call, ino, h, fi);
	report_size(call, ino, h);
	fi->fh = (uint64_t)(uintptr_t)h;
	return 0;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	if (!rc && ino == LEAT_ALIVE_INO) {
		leat_alive_opened(&call);
		fuse_reply_open(req, fi);
		return;
	}
	if (!rc && writes(fi->flags))
		rc = leat_other_change(&call, ino);
	if (!rc)
		rc = open_file(&call, ino, fi);
	leat_record_opened(&call, rc ? NULL : leat_handle_of(fi), ino, NULL, fi->flags, rc);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		leat_fuse_opened(req, leat_handle_of(fi)->backing, fi, NULL);
}

static int create_file(struct leat_mount_call *call, fuse_ino_t parent, const char *name,
		       mode_t mode, struct fuse_file_info *fi, struct fuse_entry_param *e)
{
	struct leat_mount_location location;
	struct leat_handle *h;
	char path[PATH_MAX];
	int flags = fi->flags | O_CREAT;
	int rc = leat_node_path(call->m, parent, name, path);

	if (!rc)
		rc = resolve_open(call, path, flags, mode, &location);
	if (!rc)
		rc = leat_handle_open(call, 0, &location, (int)location.flags, mode, &h);
	if (rc)
		return rc;
	rc = acted(call, h);
	if (rc)
		return rc;
	rc = leat_ops_entry(call, parent, name, &location, e);
	if (rc) {
		leat_handle_close(call, h);
		return rc;
	}
	leat_node_by_path(call->m, e->ino, call->tid);
	leat_handle_attach(h, e->ino);
	choose_cache(call, e->ino, h, fi);
	fi->fh = (uint64_t)(uintptr_t)h;
	return 0;
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	if (!rc)
		rc = leat_other_change(&call, parent);
	if (!rc)
		rc = create_file(&call, parent, name, mode, fi, &e);
	leat_record_opened(&call, rc ? NULL : leat_handle_of(fi), parent, name, fi->flags | O_CREAT,
			   rc);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		leat_fuse_opened(req, leat_handle_of(fi)->backing, fi, &e);
}

/* Each close comes here while the caller waits: the last time to see how it ends. */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_handle *h = leat_handle_of(fi);
	struct leat_mount_call call;
	bool killed;

	leat_record_flushed(leat_fuse_context(req), ino == LEAT_ALIVE_INO ? NULL : h,
			    fuse_req_ctx(req)->pid);
	if (ino == LEAT_ALIVE_INO) {
		if (leat_mount_call_init(&call, req) == 0)
			leat_alive_flushed(&call);
	} else if (h) {
		killed = h->ofd && leat_alive_closing(h, fuse_req_ctx(req)->pid);
		if (killed && leat_mount_call_init(&call, req) == 0)
			leat_alive_report_closing(&call, h->slot, h->ofd);
		/* Of other files there is nothing to report, and no caller to be asked who it is.
		 */
		if (leat_handle_is_version(h) && leat_mount_call_init(&call, req) == 0)
			leat_handle_note_closed(&call, h);
		leat_handle_flushed(h);
	}
	fuse_reply_err(req, 0);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_mount_call call;

	if (leat_mount_call_init(&call, req))
		call.connection = NULL;
	if (ino != LEAT_ALIVE_INO)
		leat_handle_close(&call, leat_handle_of(fi));
	fuse_reply_err(req, 0);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct leat_handle *h = leat_handle_of(fi);
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	(void)ino;
	if (!rc)
		rc = leat_handle_migrate(&call, h, false);
	if (!rc && (datasync ? fdatasync(h->fd) : fsync(h->fd)) < 0)
		rc = -errno;
	fuse_reply_err(req, -rc);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
			 struct fuse_file_info *fi)
{
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	(void)ino;
	if (!rc)
		rc = leat_handle_allocate(&call, leat_handle_of(fi), mode, (uint64_t)offset,
					  (uint64_t)length);
	fuse_reply_err(req, -rc);
}

/* Only for data and holes: all else is the kernel's. */
static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
		     struct fuse_file_info *fi)
{
	struct leat_mount_call call;
	off_t at = -1;
	int rc = leat_mount_call_init(&call, req);

	(void)ino;
	if (!rc)
		rc = leat_handle_whole(&call, leat_handle_of(fi));
	if (!rc)
		rc = leat_handle_migrate(&call, leat_handle_of(fi), false);
	if (!rc) {
		at = lseek(leat_handle_of(fi)->fd, offset, whence);
		rc = at < 0 ? -errno : 0;
	}
	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_lseek(req, at);
}

void leat_ops_add_files(struct fuse_lowlevel_ops *ops)
{
	ops->open = op_open;
	ops->create = op_create;
	ops->flush = op_flush;
	ops->release = op_release;
	ops->fsync = op_fsync;
	ops->fallocate = op_fallocate;
	ops->lseek = op_lseek;
}
