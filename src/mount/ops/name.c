/* Looking up, making, moving and removing names. */
#include "mount/callers/lookup.h"
#include "mount/daemon/ask.h"
#include "mount/daemon/wait.h"
#include "mount/files/alive.h"
#include "mount/files/change.h"
#include "mount/files/other.h"
#include "mount/names/identity.h"
#include "mount/names/node.h"
#include "mount/ops/ops.h"
#include "mount/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A final file keeps its attributes; all else may change at any time without a word to us. What a
 * path leads through is kept from one call of a program to its next: the least the kernel can. */
#define FINAL_S 1.0

#define DIRECTORY_S 0.001

double leat_ops_keep_s(const struct leat_mount_call *call,
		       const struct leat_mount_location *location)
{
	struct leat_shm_file *f = leat_mount_file(call, location->slot);

	return f && leat_shm_flags(f) & LEAT_SHM_COMMITTED ? FINAL_S : 0;
}

/* What a directory takes on a disk: as src/preload/hooks/stat_shown.c shows those in memory. */
enum { DIRECTORY_BYTES = 4096, DIRECTORY_BLOCKS = DIRECTORY_BYTES / 512 };

/* What leat does on disk is not to be seen: a directory that is in both places has the times that
 * it has in the store. */
static void show_directory(struct leat_mount *m, fuse_ino_t ino, const char *name, struct stat *st)
{
	char path[PATH_MAX];
	struct stat half;

	if (st->st_dev != m->store_dev) {
		if (leat_node_path(m, ino, name, path) || leat_mount_stat_half(m, path, &half))
			return;
		st->st_atim = half.st_atim;
		st->st_mtim = half.st_mtim;
		st->st_ctim = half.st_ctim;
	}
	st->st_size = DIRECTORY_BYTES;
	st->st_blocks = DIRECTORY_BLOCKS;
}

/* In a user namespace the kernel lets nobody write what belongs to a user it does not know there,
 * before it asks us. What this user may do is found out by doing it. */
void leat_ops_show(struct leat_mount *m, fuse_ino_t ino, const char *name, struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		show_directory(m, ino, name, st);
	if (!m->own_users)
		return;
	st->st_uid = m->shown_uid;
	st->st_gid = m->shown_gid;
}

/* Fill `e` with a node for `st`. */
static int entry_of(struct leat_mount_call *call, fuse_ino_t parent, const char *name,
		    const struct stat *st, const struct leat_identity *id,
		    struct fuse_entry_param *e)
{
	struct leat_node *node = leat_node_look(call->m, parent, name, st, id, call->tid);

	if (!node)
		return -ENOMEM;
	e->ino = leat_node_ino(call->m, node);
	e->generation = leat_node_generation(node);
	e->attr = *st;
	leat_ops_show(call->m, parent, name, &e->attr);
	return 0;
}

int leat_ops_entry(struct leat_mount_call *call, fuse_ino_t parent, const char *name,
		   const struct leat_mount_location *location, struct fuse_entry_param *e)
{
	struct leat_identity id;
	struct stat st;
	int rc = leat_mount_identify(call, location->slot, location->dirfd, location->path, &st,
				     &id);

	*e = (struct fuse_entry_param){0};
	if (!rc)
		rc = entry_of(call, parent, name, &st, &id, e);
	e->attr_timeout = leat_ops_keep_s(call, location);
	if (!rc && S_ISDIR(st.st_mode))
		e->entry_timeout = e->attr_timeout = DIRECTORY_S;
	return rc;
}

/* What is not there yet may become a file or a directory: it is a symlink to itself to who follows
 * one, and else what the call wants. A call that wants something else looks the name up again, when
 * it is there. */
static void show_to_come(const struct leat_mount_call *call, const char *name,
			 enum leat_asked asked, struct stat *st)
{
	static const mode_t types[] = {[LEAT_ASKED_ANY] = S_IFLNK,
				       [LEAT_ASKED_LINK] = S_IFLNK,
				       [LEAT_ASKED_FILE] = S_IFREG,
				       [LEAT_ASKED_DIR] = S_IFDIR};

	*st = (struct stat){.st_mode = types[asked] | 0777,
			    .st_nlink = 1,
			    .st_uid = call->m->shown_uid,
			    .st_gid = call->m->shown_gid};
	if (S_ISLNK(st->st_mode))
		st->st_size = (off_t)strlen(name);
}

/* Something is to come, or is growing: whoever looks closer waits then. The kernel holds a lock on
 * the directory during a lookup, so nobody waits here; it holds none when it reads a symlink, opens
 * a file, or asks for attributes. */
static int entry_to_come(struct leat_mount_call *call, fuse_ino_t parent, const char *name,
			 const char *path, const struct leat_mount_location *location,
			 struct fuse_entry_param *e)
{
	const struct leat_caller_aim aim = leat_caller_aim_of(call->tid, name);
	const uint32_t slot = location->slot;
	struct leat_identity id;
	struct stat st;

	leat_mount_cancel(call);
	/* What the daemon has waited for when the call itself comes. */
	if (aim.makes)
		return -ENOENT;
	/* A call that only goes through a directory does not wait for it. */
	if (((!*location->path ||
	      leat_mount_identify(call, slot, location->dirfd, location->path, &st, &id)) &&
	     leat_mount_identify(call, slot, call->m->store_fd, path, &st, &id) &&
	     leat_mount_identify(call, slot, call->m->dir_fd, path, &st, &id)) ||
	    (S_ISDIR(st.st_mode) && aim.looks)) {
		id = (struct leat_identity){0};
		show_to_come(call, name, aim.asked, &st);
	}
	*e = (struct fuse_entry_param){0};
	return entry_of(call, parent, name, &st, &id, e);
}

enum { MAX_LOOKS = 100 };

static const struct leat_msg_resolve to_stat = {.op = LEAT_OP_STAT, .flags = AT_SYMLINK_NOFOLLOW};

/* A directory that another step has made too early, or too late: whoever would make it is told by
 * the kernel that it is there, and we are not; nor whether it is only on the way. */
static void report_mistaken(struct leat_mount_call *call, const char *name, const char *path)
{
	static const struct leat_msg_resolve remake = {.op = LEAT_OP_MKDIR, .mode = 0777};
	static const struct leat_msg_resolve look = {.op = LEAT_OP_LOOK};
	const struct leat_caller_aim aim = leat_caller_aim_of(call->tid, name);
	struct leat_mount_location location = {0};
	int rc;

	if (!aim.makes_dir && !aim.looks)
		return;
	rc = leat_mount_resolve_once(call, aim.makes_dir ? &remake : &look, path, &location);
	if (rc == -EAGAIN)
		leat_mount_cancel(call);
	if (!rc && aim.makes_dir)
		leat_mount_report_opened(call, &location, -EEXIST); /* removed meanwhile */
}

static int look_up(struct leat_mount_call *call, fuse_ino_t parent, const char *name,
		   struct fuse_entry_param *e)
{
	struct leat_mount_location location = {0};
	char path[PATH_MAX];
	int rc;

	if (leat_alive_is(call->m, parent, name)) {
		leat_alive_entry(e);
		return 0;
	}
	rc = leat_node_path(call->m, parent, name, path);
	if (rc)
		return rc;
	/* The version that was found may be passed over before it is looked at. */
	for (unsigned i = 0; i < MAX_LOOKS; i++) {
		rc = leat_mount_resolve_once(call, &to_stat, path, &location);
		if (rc == -EAGAIN)
			return entry_to_come(call, parent, name, path, &location, e);
		if (rc)
			break;
		rc = leat_ops_entry(call, parent, name, &location, e);
		if (!rc && location.mistaken) {
			report_mistaken(call, name, path);
			e->entry_timeout = 0;
		}
		if (rc != -ENOENT || !location.slot)
			break;
	}
	return rc;
}

static void reply_entry(fuse_req_t req, int rc, const struct fuse_entry_param *e)
{
	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_entry(req, e);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	if (!rc)
		rc = look_up(&call, parent, name, &e);
	reply_entry(req, rc, &e);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	leat_node_forget(leat_fuse_context(req), ino, n);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		leat_node_forget(leat_fuse_context(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

/* --- new names: made here, where the daemon says --- */

struct making {
	enum leat_op op;
	mode_t mode;
	dev_t dev;
	const char *target; /* of a symlink */
};

static int make_at(struct leat_mount_call *call, const struct leat_mount_location *location,
		   const struct making *what)
{
	mode_t mode = leat_mount_mask(call, what->mode);
	int rc;

	leat_mount_become(call);
	if (what->target)
		rc = symlinkat(what->target, location->dirfd, location->path);
	else if (what->op == LEAT_OP_MKDIR)
		rc = mkdirat(location->dirfd, location->path, mode);
	else
		rc = mknodat(location->dirfd, location->path, mode, what->dev);
	rc = rc < 0 ? -errno : 0;
	leat_mount_become_self(call);
	leat_mount_unmask(call);
	return rc;
}

static void make(fuse_req_t req, fuse_ino_t parent, const char *name, const struct making *what)
{
	struct fuse_entry_param e;
	struct leat_mount_location location = {0};
	struct leat_mount_call call;
	char path[PATH_MAX];
	int rc = leat_mount_call_init(&call, req);

	if (!rc)
		rc = leat_other_change(&call, parent);
	if (!rc)
		rc = leat_node_path(call.m, parent, name, path);
	if (!rc)
		rc = leat_mount_resolve(
			&call, &(struct leat_msg_resolve){.op = what->op, .mode = what->mode}, path,
			&location);
	if (!rc) {
		rc = make_at(&call, &location, what);
		leat_mount_report_opened(&call, &location, rc);
	}
	if (!rc)
		rc = leat_ops_entry(&call, parent, name, &location, &e);
	reply_entry(req, rc, &e);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	make(req, parent, name, &(struct making){.op = LEAT_OP_MKDIR, .mode = mode});
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	make(req, parent, name, &(struct making){.op = LEAT_OP_MAKE, .mode = mode, .dev = dev});
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	make(req, parent, name,
	     &(struct making){.op = LEAT_OP_MAKE, .mode = S_IFLNK | 0777, .target = target});
}

/* --- moving and removing: done by the daemon --- */

static int remove_name(fuse_req_t req, enum leat_change what, fuse_ino_t parent, const char *name)
{
	struct leat_mount_call call;
	char path[PATH_MAX];
	int rc = leat_mount_call_init(&call, req);

	*path = 0;
	if (!rc)
		rc = leat_other_change(&call, parent);
	if (!rc)
		rc = leat_node_path(call.m, parent, name, path);
	if (!rc)
		rc = leat_mount_change(&call, what, 0, path, NULL);
	if (what == LEAT_CHANGE_UNLINK)
		leat_record_named(&call, LEAT_TRACE_UNLINK, path, NULL, rc);
	if (!rc)
		leat_node_removed(call.m, parent, name);
	return rc;
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req, -remove_name(req, LEAT_CHANGE_UNLINK, parent, name));
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req, -remove_name(req, LEAT_CHANGE_RMDIR, parent, name));
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t to_parent,
		      const char *to_name, unsigned flags)
{
	struct leat_mount_call call;
	char from[PATH_MAX], to[PATH_MAX];
	int rc = leat_mount_call_init(&call, req);

	*from = *to = 0;
	if (!rc)
		rc = leat_other_change(&call, parent);
	if (!rc)
		rc = leat_node_path(call.m, parent, name, from);
	if (!rc)
		rc = leat_node_path(call.m, to_parent, to_name, to);
	if (!rc)
		rc = leat_mount_change(&call, LEAT_CHANGE_RENAME, flags, from, to);
	leat_record_named(&call, LEAT_TRACE_RENAME, from, to, rc);
	if (!rc)
		leat_node_renamed(call.m, parent, name, to_parent, to_name,
				  flags & RENAME_EXCHANGE);
	fuse_reply_err(req, -rc);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	struct leat_mount_location location = {0};
	struct leat_mount_call call;
	char from[PATH_MAX], to[PATH_MAX];
	int rc = leat_mount_call_init(&call, req);

	if (!rc)
		rc = leat_other_change(&call, parent);
	if (!rc)
		rc = leat_node_path(call.m, ino, NULL, from);
	if (!rc)
		rc = leat_node_path(call.m, parent, name, to);
	if (!rc)
		rc = leat_mount_change(&call, LEAT_CHANGE_LINK, 0, from, to);
	if (!rc)
		rc = leat_mount_resolve_once(&call, &to_stat, to, &location);
	if (rc == -EAGAIN)
		rc = entry_to_come(&call, parent, name, to, &location, &e);
	else if (!rc)
		rc = leat_ops_entry(&call, parent, name, &location, &e);
	reply_entry(req, rc, &e);
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is the directory there, and the caller on its way to something else? Then: where. */
static bool goes_through(struct leat_mount_call *call, const char *path,
			 struct leat_mount_location *location)
{
	const int places[] = {call->m->store_fd, call->m->dir_fd};
	struct stat st;

	if (leat_caller_aim_of(call->tid, last_of(path)).looks)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (fstatat(places[i], path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			continue;
		location->dirfd = places[i];
		snprintf(location->path, sizeof(location->path), "%s", path);
		return true;
	}
	return false;
}

int leat_ops_look(struct leat_mount_call *call, enum leat_op op, const char *path,
		  struct leat_mount_location *location, bool *passes)
{
	const struct leat_msg_resolve what = {.op = op, .flags = AT_SYMLINK_NOFOLLOW};
	int rc;

	*passes = false;
	for (;;) {
		rc = leat_mount_resolve_once(call, &what, path, location);
		if (rc != -EAGAIN)
			return rc;
		*passes = goes_through(call, path, location);
		if (*passes) {
			leat_mount_cancel(call);
			return 0;
		}
		rc = leat_mount_sleep(call, location->slot, location->seq);
		if (rc)
			return rc;
	}
}

/* Waits for what is to come; if that is no symlink, or nothing, its own name is the answer, which
 * the kernel looks up again: but not to a program that asked for a symlink. */
static int read_link(struct leat_mount_call *call, fuse_ino_t ino, char target[PATH_MAX])
{
	struct leat_mount_location location = {0};
	char path[PATH_MAX];
	const char *name;
	bool passes;
	ssize_t n;
	int rc = leat_node_path(call->m, ino, NULL, path);

	if (rc)
		return rc;
	rc = leat_ops_look(call, LEAT_OP_ACCESS, path, &location, &passes);
	if (!rc) {
		leat_mount_become(call);
		n = readlinkat(location.dirfd, location.path, target, PATH_MAX - 1);
		rc = n < 0 ? -errno : 0;
		target[n < 0 ? 0 : n] = 0;
		leat_mount_become_self(call);
	}
	name = last_of(path);
	if ((rc != -ENOENT && rc != -EINVAL) ||
	    leat_caller_aim_of(call->tid, name).asked == LEAT_ASKED_LINK)
		return rc;
	strcpy(target, name);
	return 0;
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[PATH_MAX];
	struct leat_mount_call call;
	int rc = leat_mount_call_init(&call, req);

	if (!rc)
		rc = read_link(&call, ino, target);
	if (rc)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_readlink(req, target);
}

void leat_ops_add_names(struct fuse_lowlevel_ops *ops)
{
	ops->lookup = op_lookup;
	ops->forget = op_forget;
	ops->forget_multi = op_forget_multi;
	ops->mkdir = op_mkdir;
	ops->mknod = op_mknod;
	ops->symlink = op_symlink;
	ops->unlink = op_unlink;
	ops->rmdir = op_rmdir;
	ops->rename = op_rename;
	ops->link = op_link;
	ops->readlink = op_readlink;
}
