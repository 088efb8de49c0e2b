/* Attributes: by path they follow the rules, by an open file they are what it has. */
#include "mount/callers/caller.h"
#include "mount/callers/size.h"
#include "mount/daemon/ask.h"
#include "mount/daemon/wait.h"
#include "mount/files/alive.h"
#include "mount/files/halves.h"
#include "mount/files/handle.h"
#include "mount/files/listing.h"
#include "mount/files/migrate.h"
#include "mount/files/open_files.h"
#include "mount/files/other.h"
#include "mount/files/rights.h"
#include "mount/files/write.h"
#include "mount/names/handle.h"
#include "mount/names/identity.h"
#include "mount/names/node.h"
#include "mount/ops/ops.h"
#include "mount/record/record.h"

#include "base/fd.h"
#include "client/sizes.h"
#include "eventlog/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- looking --- */

/* Programs take the block size for the best size of a read: one they would not wait long for. */
enum { GROWING_BLOCK = 65536 };

/* What is shown of the size of an open file. */
enum showing { SHOW_AS_IS, SHOW_AND_NOTE, SHOW_LAST_WORD };

/* As in the interception library: whoever goes by a size waits for the last word, a run time's own
 * look at the open is noted. */
static enum showing showing_to(struct leat_mount_call *call, fuse_ino_t ino)
{
	unsigned looks;
	bool sized;

	if (!leat_handle_grows(call, ino, &sized) || !leat_caller_is_inside(call->tid))
		return SHOW_AS_IS;
	looks = leat_caller_looks(call->tid);
	if (looks == LEAT_SIZE_UNUSED)
		return SHOW_AS_IS;
	return looks && !sized ? SHOW_AND_NOTE : SHOW_LAST_WORD;
}

/* Of an open file. -EBADF: the name is not open. */
static int by_handle(struct leat_mount_call *call, fuse_ino_t ino, struct stat *st)
{
	uint32_t slot = 0;
	int fd = leat_handle_any(call, ino, &slot), rc = 0;
	enum showing showing;

	if (fd < 0)
		return -EBADF;
	showing = showing_to(call, ino);
	if (showing == SHOW_LAST_WORD)
		rc = leat_mount_await_whole(call, slot);
	if (!rc)
		rc = leat_mount_fstat(call, slot, fd, st);
	if (!rc && S_ISDIR(st->st_mode) && leat_caller_is_inside(call->tid))
		rc = leat_listing_settle(call, ino);
	if (rc == 1)
		rc = leat_mount_fstat(call, slot, fd, st);
	if (!rc && showing == SHOW_LAST_WORD) /* as in find_end */
		leat_fuse_extend(call->m->session, ino, fd, (uint64_t)st->st_size);
	leat_close(&fd);
	if (!rc && S_ISREG(st->st_mode) && showing != SHOW_AS_IS)
		leat_handle_sized(call, ino, (uint64_t)st->st_size);
	if (st->st_blksize > GROWING_BLOCK)
		st->st_blksize = GROWING_BLOCK;
	return rc;
}

static int by_path(struct leat_mount_call *call, fuse_ino_t ino, struct stat *st, double *keep_s)
{
	struct leat_mount_location location;
	struct leat_identity id;
	char path[PATH_MAX];
	bool passes = false;
	int rc = leat_node_path(call->m, ino, NULL, path);

	if (!rc)
		rc = leat_ops_look(call, LEAT_OP_STAT, path, &location, &passes);
	if (!rc)
		rc = leat_mount_identify(call, location.slot, location.dirfd, location.path, st,
					 &id);
	if (!rc && !leat_node_is(call->m, ino, st, &id))
		rc = -ESTALE; /* the kernel looks the name up anew */
	if (!rc && !passes)
		*keep_s = leat_ops_keep_s(call, &location);
	return rc;
}

/* Where is the end? The kernel throws the answer away if it was told of the file since it asked,
 * for instance because somebody has looked into /proc/PID/fd: after a wait the size is told apart.
 */
static int find_end(struct leat_mount_call *call, fuse_ino_t ino, struct leat_handle *h,
		    struct stat *st)
{
	bool was_final = leat_handle_is_final(call, h);
	int rc = leat_handle_whole(call, h);

	if (!rc)
		rc = leat_handle_migrate(call, h, false);
	if (!rc)
		rc = leat_mount_fstat(call, 0, h->fd, st);
	if (!rc && !was_final)
		leat_fuse_extend(call->m->session, ino, h->fd, (uint64_t)st->st_size);
	return rc;
}

/* The kernel names the open file when it wants to know where the end is. */
static int look(struct leat_mount_call *call, fuse_ino_t ino, const struct fuse_file_info *fi,
		struct stat *st, double *keep_s)
{
	struct leat_handle *h = fi ? leat_handle_of(fi) : NULL;
	int rc;

	if (h)
		return find_end(call, ino, h, st);
	if (!leat_node_by_path(call->m, ino, call->tid)) {
		rc = by_handle(call, ino, st);
		if (rc != -EBADF)
			return rc;
	}
	rc = by_path(call, ino, st, keep_s);
	if (rc == -ESTALE || rc == -ENOENT) {
		/* It has looked the name up to remove it. */
		int open = by_handle(call, ino, st);

		rc = open == -EBADF ? rc : open;
	}
	return rc;
}

static void reply_attributes(const struct leat_mount_call *call, fuse_ino_t ino, struct stat *st,
			     double keep_s)
{
	leat_ops_show(call->m, ino, NULL, st);
	leat_node_note_size_reported(call->m, ino, (uint64_t)st->st_size);
	fuse_reply_attr(call->req, st, keep_s);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	struct leat_mount_call call;
	double keep_s = 0;
	struct stat st;
	int rc = leat_mount_call_init(&call, req);

	if (ino == LEAT_ALIVE_INO) {
		leat_alive_entry(&e);
		st = e.attr;
	} else if (!rc)
		rc = look(&call, ino, fi, &st, &keep_s);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		reply_attributes(&call, ino, &st, keep_s);
}

static void op_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct leat_mount_location location;
	struct leat_mount_call call;
	struct stat st;
	int rc = leat_mount_call_init(&call, req);

	if (!rc) {
		leat_node_by_path(call.m, ino, call.tid);
		rc = leat_mount_resolve_node(
			&call, ino, &(struct leat_msg_resolve){.op = LEAT_OP_ACCESS}, &location);
	}
	if (!rc) {
		leat_mount_become(&call);
		if (faccessat(location.dirfd, location.path, mask, AT_EACCESS) < 0)
			rc = -errno;
		if (!rc && fstatat(location.dirfd, location.path, &st, 0) == 0)
			rc = leat_other_access(&call, &st, mask);
		leat_mount_become_self(&call);
	}
	fuse_reply_err(req, -rc);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct leat_mount *m = leat_fuse_context(req);
	char path[64];
	struct statvfs fs;

	(void)ino;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", m->dir_fd);
	if (statvfs(path, &fs) < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_statfs(req, &fs);
}

/* --- changing --- */

/* A new attribute, of an open file (fd) or of a place. */
struct target {
	int fd; /* -1: by place */
	struct leat_mount_location location;
};

static int set_mode(const struct target *t, mode_t mode)
{
	int rc = t->fd >= 0 ? fchmod(t->fd, mode)
			    : fchmodat(t->location.dirfd, t->location.path, mode, 0);

	return rc < 0 ? -errno : 0;
}

static int set_owner(const struct leat_mount_call *call, const struct target *t,
		     const struct stat *st, int what)
{
	uid_t uid = what & FUSE_SET_ATTR_UID ? st->st_uid : (uid_t)-1;
	gid_t gid = what & FUSE_SET_ATTR_GID ? st->st_gid : (gid_t)-1;
	int rc = leat_other_owner(call, &uid, &gid);

	if (rc)
		return rc;
	rc = t->fd >= 0
		     ? fchown(t->fd, uid, gid)
		     : fchownat(t->location.dirfd, t->location.path, uid, gid, AT_SYMLINK_NOFOLLOW);
	return rc < 0 ? -errno : 0;
}

static struct timespec time_for(int what, int now, int set, struct timespec value)
{
	if (what & now)
		return (struct timespec){.tv_nsec = UTIME_NOW};
	return what & set ? value : (struct timespec){.tv_nsec = UTIME_OMIT};
}

static int set_times(const struct leat_mount_call *call, const struct target *t,
		     const struct stat *st, int what)
{
	const struct timespec times[2] = {
		time_for(what, FUSE_SET_ATTR_ATIME_NOW, FUSE_SET_ATTR_ATIME, st->st_atim),
		time_for(what, FUSE_SET_ATTR_MTIME_NOW, FUSE_SET_ATTR_MTIME, st->st_mtim)};
	int rc = t->fd >= 0 ? futimens(t->fd, times)
			    : utimensat(t->location.dirfd, t->location.path, times,
					AT_SYMLINK_NOFOLLOW);

	if (rc < 0)
		return -errno;
	leat_shm_note_times(leat_mount_file(call, t->location.slot), times);
	return 0;
}

#define SET_OWNER (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)

#define SET_TIMES (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)

static int change(struct leat_mount_call *call, fuse_ino_t ino, const struct stat *st, int what)
{
	struct target t = {.fd = -1};
	bool named = leat_node_by_path(call->m, ino, call->tid);
	const struct leat_msg_resolve rights = leat_rights_of(st, what);
	struct leat_mount_half half;
	int rc = 0, held;

	if (!named)
		t.fd = leat_handle_any(call, ino, &t.location.slot);
	rc = t.fd < 0 ? leat_mount_resolve_node(call, ino, &rights, &t.location)
		      : leat_rights_may_change(call, ino, t.location.slot, &rights);
	if (rc) {
		leat_close(&t.fd);
		return rc;
	}
	leat_mount_become(call);
	held = t.fd >= 0
		       ? dup(t.fd)
		       : openat(t.location.dirfd, t.location.path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	leat_half_note(&half, call, held);
	if (what & FUSE_SET_ATTR_MODE)
		rc = set_mode(&t, st->st_mode & 07777);
	if (!rc && what & SET_OWNER)
		rc = set_owner(call, &t, st, what);
	if (!rc && what & SET_TIMES)
		rc = set_times(call, &t, st, what);
	leat_mount_become_self(call);
	if (!rc)
		rc = leat_half_changed(call, &half, ino, held,
				       what & SET_TIMES ? LEAT_ALIKE_TIMES : 0);
	leat_close(&held);
	leat_close(&t.fd);
	return rc;
}

static int cut(struct leat_mount_call *call, fuse_ino_t ino, uint64_t length,
	       const struct fuse_file_info *fi)
{
	const struct leat_msg_resolve what = {.op = LEAT_OP_TRUNCATE, .length = length};
	struct leat_mount_location location;
	char path[64];
	int fd = -1, rc;

	if (fi)
		return leat_handle_resize(call, leat_handle_of(fi), length);
	leat_node_by_path(call->m, ino, call->tid);
	rc = leat_handles_settle(call);
	if (!rc)
		rc = leat_mount_resolve_node(call, ino, &what, &location);
	if (rc)
		return rc;
	leat_mount_become(call);
	fd = openat(location.dirfd, location.path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!rc && truncate(path, (off_t)length) < 0)
		rc = -errno;
	leat_mount_become_self(call);
	leat_record_cut(call, NULL, ino, fd, length, rc);
	leat_close(&fd);
	return rc;
}

/* After a change: as it is now, without waiting. */
static int look_now(struct leat_mount_call *call, fuse_ino_t ino, const struct fuse_file_info *fi,
		    struct stat *st)
{
	struct leat_mount_location location;
	struct leat_identity id;
	uint32_t slot;
	int fd, rc;

	if (fi) {
		rc = leat_handle_migrate(call, leat_handle_of(fi), false);
		return rc ? rc : leat_mount_fstat(call, 0, leat_handle_of(fi)->fd, st);
	}
	fd = leat_handle_any(call, ino, &slot);
	if (fd >= 0) {
		rc = leat_mount_fstat(call, slot, fd, st);
		leat_close(&fd);
		return rc;
	}
	rc = leat_mount_resolve_node(call, ino, &(struct leat_msg_resolve){.op = LEAT_OP_ACCESS},
				     &location);
	if (!rc)
		rc = leat_mount_identify(call, location.slot, location.dirfd, location.path, st,
					 &id);
	return rc;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int what,
		       struct fuse_file_info *fi)
{
	struct leat_mount_call call;
	struct stat st;
	int rc = leat_mount_call_init(&call, req);

	leat_shm_change_begin(call.m->shm);
	if (!rc && !fi)
		rc = leat_other_change(&call, ino);
	if (!rc && what & FUSE_SET_ATTR_SIZE)
		rc = cut(&call, ino, (uint64_t)attr->st_size, fi);
	/* A cut sets the times itself. */
	if (!rc && what & (FUSE_SET_ATTR_MODE | SET_OWNER | SET_TIMES) &&
	    !(what & FUSE_SET_ATTR_SIZE))
		rc = change(&call, ino, attr, what);
	leat_shm_change_end(call.m->shm); /* what others remember of it is no longer true */
	if (!rc)
		rc = look_now(&call, ino, fi, &st);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		reply_attributes(&call, ino, &st, 0);
}

void leat_ops_add_attributes(struct fuse_lowlevel_ops *ops)
{
	ops->getattr = op_getattr;
	ops->setattr = op_setattr;
	ops->access = op_access;
	ops->statfs = op_statfs;
}
