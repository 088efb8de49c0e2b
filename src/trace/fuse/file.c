/* Open files: they begin, end, and what is done to them other than reads and writes. */
#include "base/fd.h"
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>
#include <utlist.h>

struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

void become(const struct overlay *o, fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	if (!o->as_root)
		return;
	setfsgid(ctx->gid);
	setfsuid(ctx->uid);
}

void be_self(const struct overlay *o)
{
	if (!o->as_root)
		return;
	setfsuid(0);
	setfsgid(0);
}

/* Direct I/O is between the program and this process, where the memory is not as such needs it.
 * Appending is done by each write. */
static int own_flags(int flags)
{
	return (flags & ~(O_DIRECT | O_APPEND | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
}

/* Records that a file was opened, or could not be. The handle gets its ids if it is to be recorded.
 */
static void record_open(struct overlay *o, const struct moment *m, struct handle *h,
			enum leat_trace_type type, int result, const char *path, int fd)
{
	struct leat_trace_call call = record_begin(o, m, type, result);
	struct statx x;

	if (!path || !record_wants(o, m, path, fd)) {
		if (!path)
			leat_trace_sink_lost(&o->sink, LEAT_TRACE_LOST_PATH, 1);
		pthread_mutex_unlock(&o->lock);
		return;
	}
	if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &x) == 0)
		call.inode = file_id_of(o, &x);
	call.pid = (int32_t)leat_people_process(&o->people, m->tid, true);
	if (!result) {
		call.handle = h->id = ++o->last_handle;
		h->inode = call.inode;
		h->opener = call.pid;
	}
	call.flags = h->flags;
	call.path = path;
	record_end(o, m, &call);
}

/* A directory or a special file is opened as such; of the kernel only regular ones come here, in
 * general. */
static void set_up(struct overlay *o, struct fuse_file_info *fi, struct handle *h)
{
	pthread_mutex_lock(&o->lock);
	DL_APPEND(o->handles, h);
	pthread_mutex_unlock(&o->lock);
	fi->fh = (uint64_t)(uintptr_t)h;
	fi->direct_io = 1;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct overlay *o = overlay_of(req);
	struct handle *h = calloc(1, sizeof(*h));
	struct moment m = moment_of(req);
	char door[32], path[PATH_MAX];
	bool named;
	int rc = 0;

	if (!h) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	*h = (struct handle){.node = node_of(o, ino), .flags = (uint32_t)fi->flags};
	node_door(h->node, door);
	named = node_path(h->node, NULL, path);
	h->fd = open(door, own_flags(fi->flags));
	if (h->fd < 0)
		rc = -errno;
	record_open(o, &m, h, LEAT_TRACE_OPEN, rc, named ? path : NULL, h->fd);
	if (rc) {
		free(h);
		fuse_reply_err(req, -rc);
		return;
	}
	set_up(o, fi, h);
	fuse_reply_open(req, fi);
}

/* Opens the name, and says whether that made it. A descriptor or -errno. */
static int create_there(struct overlay *o, fuse_req_t req, const struct node *dir, const char *name,
			int flags, mode_t mode, bool *made)
{
	int fd;

	for (int i = 0; i < 100; i++) {
		become(o, req);
		fd = openat(node_fd(dir), name, own_flags(flags) | O_CREAT | O_EXCL | O_NOFOLLOW,
			    mode);
		be_self(o);
		*made = fd >= 0;
		if (fd >= 0 || errno != EEXIST || flags & O_EXCL)
			return fd < 0 ? -errno : fd;
		fd = openat(node_fd(dir), name, (own_flags(flags) & ~O_CREAT) | O_NOFOLLOW);
		if (fd >= 0 || errno != ENOENT)
			return fd < 0 ? -errno : fd;
	}
	return -ENOENT; /* somebody removes it each time */
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	struct overlay *o = overlay_of(req);
	struct node *dir = node_of(o, parent);
	struct handle *h = calloc(1, sizeof(*h));
	struct moment m = moment_of(req);
	struct fuse_entry_param e;
	char path[PATH_MAX];
	bool named, made = false;
	int rc = 0;

	if (!h) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	named = node_path(dir, name, path);
	h->flags = (uint32_t)fi->flags;
	h->fd = create_there(o, req, dir, name, fi->flags, mode, &made);
	if (h->fd < 0)
		rc = h->fd;
	record_open(o, &m, h, made ? LEAT_TRACE_CREATE : LEAT_TRACE_OPEN, rc, named ? path : NULL,
		    h->fd);
	if (!rc)
		rc = node_look(o, dir, name, &e);
	if (rc) {
		leat_close(&h->fd);
		free(h);
		fuse_reply_err(req, -rc);
		return;
	}
	h->node = node_of(o, e.ino);
	set_up(o, fi, h);
	fuse_reply_create(req, &e, fi);
}

/* A descriptor is closed: perhaps one of several, perhaps within execve, during which /proc has
 * nothing to say of the process, and where the lock might be waited for by who asks it: so the
 * answer comes first. */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	pid_t tid = fuse_req_ctx(req)->pid;
	int fd = dup(h->fd), rc = fd < 0 ? errno : 0;

	(void)ino;
	/* A file system that writes late says so at a close. */
	if (fd >= 0 && close(fd) < 0)
		rc = errno;
	/* The handle lives until its release, which may come as soon as this is answered. */
	h->closer = leat_process_of(tid);
	fuse_reply_err(req, rc);
}

/* The descriptor is closed, and the handle no more among those that are open. */
static void end_handle(struct overlay *o, const struct moment *m, struct handle *h)
{
	struct leat_trace_call call = record_begin(o, m, LEAT_TRACE_CLOSE, 0);

	DL_DELETE(o->handles, h);
	call.handle = h->id;
	call.inode = h->inode;
	call.flags = h->flags;
	if (h->closer)
		leat_people_process(&o->people, h->closer, false);
	call.pid = (int32_t)(h->closer ? h->closer : h->opener);
	if (h->id)
		record_end(o, m, &call);
	else
		pthread_mutex_unlock(&o->lock);
	free(h);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct overlay *o = overlay_of(req);
	struct moment m = moment_of(req);

	(void)ino;
	close(h->fd);
	fuse_reply_err(req, 0);
	end_handle(o, &m, h);
}

void handles_end(struct overlay *o)
{
	const struct moment m = {.start_ns = now_ns()};

	/* The kernel drops what it had not yet told us when the last process went. */
	while (o->handles) {
		close(o->handles->fd);
		end_handle(o, &m, o->handles);
	}
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	int fd = handle_of(fi)->fd;

	(void)ino;
	fuse_reply_err(req, (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? errno : 0);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
			 struct fuse_file_info *fi)
{
	(void)ino;
	fuse_reply_err(req, fallocate(handle_of(fi)->fd, mode, offset, length) < 0 ? errno : 0);
}

static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
		     struct fuse_file_info *fi)
{
	off_t at = lseek(handle_of(fi)->fd, offset, whence);

	(void)ino;
	if (at < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_lseek(req, at);
}

void ops_add_files(struct fuse_lowlevel_ops *ops)
{
	ops->open = op_open;
	ops->create = op_create;
	ops->flush = op_flush;
	ops->release = op_release;
	ops->fsync = op_fsync;
	ops->fallocate = op_fallocate;
	ops->lseek = op_lseek;
}
