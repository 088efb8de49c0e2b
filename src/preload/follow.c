#include "preload/follow.h"
#include "preload/client.h"
#include "preload/room.h"
#include "preload/text.h"
#include "preload/window.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Send what t->msg holds, with a descriptor. 0 or -errno. */
static int send_with(struct leat_thread *t, int fd)
{
	const struct leat_msg *h = (const struct leat_msg *)t->msg;
	char control[CMSG_SPACE(sizeof(fd))] __attribute__((aligned(8))) = {0};
	struct iovec io = {.iov_base = t->msg, .iov_len = h->size};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	long rc;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	*(int *)CMSG_DATA(c) = fd;
	do
		rc = raw(SYS_sendmsg, t->conn, &msg, MSG_NOSIGNAL);
	while (rc == -EINTR);
	return rc < 0 ? (int)rc : 0;
}

/* The new descriptor takes the number over. */
static int take_number(int fd, int new)
{
	long flags = raw(SYS_fcntl, fd, F_GETFD);
	long rc = flags < 0 ? flags : raw(SYS_dup3, new, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0);

	raw(SYS_close, new);
	return rc < 0 ? (int)rc : 0;
}

/* 0, -EAGAIN with *seq, or -errno. */
static int exchange(struct leat_thread *t, int fd, struct leat_fd *r, struct leat_exchange *x,
		    uint32_t *seq)
{
	struct leat_msg_switch *m = (struct leat_msg_switch *)t->msg;
	const struct leat_msg_switched *reply = (const struct leat_msg_switched *)t->msg;
	int new = -1, rc = leat_client_begin(t, LEAT_MSG_SWITCH);

	if (rc)
		return rc;
	m->slot = r->slot;
	rc = send_with(t, fd);
	if (!rc)
		rc = leat_client_receive_fd(t, LEAT_MSG_SWITCHED, &new);
	if (rc)
		return rc;
	*seq = reply->seq;
	if (!reply->error && new >= 0)
		rc = take_number(fd, new);
	if (rc || reply->error)
		return rc ? rc : reply->error;
	r->home = reply->home;
	leat_window_drop(r);
	*x = (struct leat_exchange){.offset = reply->offset,
				    .new_offset = reply->new_offset,
				    .size = reply->size,
				    .made = new >= 0};
	return 0;
}

static bool only_reads(const struct leat_fd *r)
{
	return r->kind == LEAT_KIND_CONSUMER || !(r->flags & LEAT_FD_WRITE);
}

int leat_follow(int fd, struct leat_exchange *x)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_exchange none;
	struct leat_guard g;
	uint32_t home, seq;
	int rc;

	while (r && r->slot && leat_has_left(r, r->home) && !leat_in_vfork()) {
		seq = leat_shm_seq(leat_client_file(r->slot));
		home = leat_shm_home(leat_client_file(r->slot));
		if (home & 1 && only_reads(r)) /* all that it may read yet is there */
			return 0;
		rc = leat_guard_take(&g);
		if (!rc && home & 1)
			rc = -EAGAIN;
		else if (!rc)
			rc = exchange(g.t, fd, r, x ? x : &none, &seq);
		leat_guard_release(&g);
		if (rc == -EAGAIN)
			rc = leat_wait_slot(r->slot, seq);
		if (rc)
			return rc == -ESTALE ? -EIO : rc;
		r = leat_fd_get(fd);
	}
	return 0;
}

/* ---- what was written at the wrong place ---- */

/* Write [at, at + n) of the new file, or append. */
static int put(int fd, const char *data, uint64_t n, int64_t at)
{
	struct leat_room room = {0};

	while (n) {
		long rc = at < 0 ? raw(SYS_write, fd, data, n) : raw(SYS_pwrite64, fd, data, n, at);

		if (rc == -ENOSPC && leat_make_room(fd, n, &room))
			continue;
		if (rc <= 0)
			return rc < 0 ? (int)rc : -EIO;
		data += rc;
		at += at < 0 ? 0 : rc;
		n -= (uint64_t)rc;
	}
	return 0;
}

static int put_again(int fd, const struct iovec *v, uint64_t skip, uint64_t n, int64_t at)
{
	int rc = 0;

	for (; !rc && n; v++) {
		uint64_t part;

		if (skip >= v->iov_len) {
			skip -= v->iov_len;
			continue;
		}
		part = v->iov_len - skip < n ? v->iov_len - skip : n;
		rc = put(fd, (const char *)v->iov_base + skip, part, at);
		at += at < 0 ? 0 : (int64_t)part;
		n -= part;
		skip = 0;
	}
	return rc;
}

/* From the former file, of which `old` is a descriptor. */
static int carry(int fd, int old, int64_t from, uint64_t n, int64_t at)
{
	struct leat_guard g;
	int rc = 0;

	while (!rc && n) {
		long part = 0;

		rc = leat_guard_take(&g);
		if (rc)
			return rc;
		part = raw(SYS_pread64, old, g.t->msg, n < sizeof(g.t->msg) ? n : sizeof(g.t->msg),
			   from);
		if (part <= 0)
			rc = -EIO;
		else if (at < 0)
			part = raw(SYS_write, fd, g.t->msg, part);
		else
			part = raw(SYS_pwrite64, fd, g.t->msg, part, at);
		leat_guard_release(&g);
		if (rc || part <= 0)
			return rc ? rc : (int)part;
		from += part;
		at += at < 0 ? 0 : part;
		n -= (uint64_t)part;
	}
	return 0;
}

/* Where the bytes are in the former file: -EIO if another thread has exchanged the
 * descriptor, by which that could have been told. */
static int64_t find_start(int fd, const struct leat_fd *r, uint32_t home, int64_t offset,
			  uint64_t n)
{
	struct stat st;
	int64_t end;

	if (offset >= 0 && !(r->flags & LEAT_FD_APPEND))
		return offset;
	if (r->home != home)
		return -EIO;
	if (offset < 0)
		end = raw(SYS_lseek, fd, 0, SEEK_CUR);
	else
		end = raw(SYS_fstat, fd, &st) ? -1 : st.st_size;
	return end < (int64_t)n ? -EIO : end - (int64_t)n;
}

/* Where they belong now; -1: at the end. *skip grows by what has been moved along. */
static int64_t find_place(const struct leat_fd *r, const struct leat_exchange *x, int64_t start,
			  bool positioned, uint64_t n, uint64_t *skip)
{
	if (r->flags & LEAT_FD_APPEND) {
		if (x->size > (uint64_t)start)
			*skip = x->size - (uint64_t)start < n ? x->size - (uint64_t)start : n;
		return -1;
	}
	if (positioned || (uint64_t)start < x->offset)
		return start;
	return start - (int64_t)x->offset + (int64_t)x->new_offset;
}

int leat_write_again(int fd, uint32_t home, int64_t offset, const struct iovec *v, uint64_t skip,
		     uint64_t n)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_exchange x = {0};
	int64_t start = find_start(fd, r, home, offset, n), at;
	uint64_t moved = 0;
	char name[LEAT_FD_PATH];
	long old = -1;
	int rc;

	if (start < 0)
		return (int)start;
	if (!v) {
		leat_fd_path(fd, name);
		old = raw(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
		if (old < 0)
			return -EIO;
	}
	rc = leat_follow(fd, &x);
	/* It may have stayed where it was, after all. */
	if (!rc && r->home != home) {
		at = find_place(r, &x, start, offset >= 0, n, &moved);
		if (v)
			rc = put_again(fd, v, skip + moved, n - moved, at);
		else
			rc = carry(fd, (int)old, start + (int64_t)moved, n - moved, at);
	}
	if (old >= 0)
		raw(SYS_close, old);
	return rc;
}
