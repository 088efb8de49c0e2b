/* Descriptors this process did not open itself: inherited over exec, or sent by
 * another process. What they are is asked of the kernel and the daemon. */
#include "preload/fdtab.h"
#include "preload/client.h"
#include "preload/hooks.h"
#include "preload/paths.h"
#include "preload/text.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* May it be ours? Cheap, because every program asks it of its standard streams:
 * the daemon is bothered only for files whose name looks like it. */
static bool is_candidate(struct leat_thread *t, int fd, struct stat *st)
{
	const char *slash = strrchr(leat_session.socket, '/');
	size_t length = (size_t)(slash - leat_session.socket);

	if (raw(SYS_fstat, fd, st) || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
		return false;
	if (leat_client_known() && st->st_dev == leat_client_known()->store_dev)
		return true;
	if (leat_fd_name(fd, t->name, sizeof(t->name)) < 0)
		return false;
	return leat_path_of_name(t->name) || strncmp(t->name, "/dev/shm/leat-", 14) == 0 ||
	       leat_text_below(t->name, leat_session.socket, length);
}

static int identify(struct leat_thread *t, int fd, const struct stat *st, struct leat_fd *r)
{
	const struct leat_msg_resolved *reply = (const struct leat_msg_resolved *)t->msg;
	struct leat_msg_identify *m = (struct leat_msg_identify *)t->msg;
	long flags = raw(SYS_fcntl, fd, F_GETFL);
	int rc = leat_client_begin(t, LEAT_MSG_IDENTIFY);

	if (rc || flags < 0)
		return rc ? rc : (int)flags;
	m->dev = st->st_dev;
	m->ino = st->st_ino;
	m->flags = (uint32_t)flags;
	if (leat_fd_name(fd, t->name, sizeof(t->name)) < 0)
		t->name[0] = 0;
	rc = leat_wire_put(m, t->name);
	if (!rc)
		rc = leat_client_roundtrip(t, LEAT_MSG_RESOLVED);
	if (rc)
		return rc;
	*r = (struct leat_fd){.kind = (uint8_t)reply->kind,
			      .slot = reply->slot,
			      .home = reply->seq,
			      .ofd = reply->ofd};
	r->flags = LEAT_FD_UNSURE;
	if (r->kind == LEAT_KIND_CONSUMER && leat_client_file(r->slot) &&
	    leat_shm_flags(leat_client_file(r->slot)) & LEAT_SHM_DROP)
		r->flags |= LEAT_FD_DROP;
	if (flags & O_APPEND)
		r->flags |= LEAT_FD_APPEND;
	if ((flags & O_ACCMODE) != O_RDONLY)
		r->flags |= LEAT_FD_WRITE;
	if (reply->input)
		r->flags |= LEAT_FD_INPUT;
	return reply->error && reply->error != -EAGAIN ? reply->error : 0;
}

void leat_fd_adopt(int fd)
{
	struct leat_guard g;
	struct leat_fd r;
	struct stat st;
	int rc = -EBADF;

	if (leat_fd_hidden(fd) || leat_guard_take(&g))
		return;
	if (is_candidate(g.t, fd, &st))
		rc = identify(g.t, fd, &st, &r);
	leat_guard_release(&g);
	if (!rc && r.kind != LEAT_KIND_NONE)
		leat_fd_set(fd, &r);
}

static int number_of(const char *name)
{
	int n = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		n = n * 10 + (*name - '0');
	return *name ? -1 : n;
}

void leat_fd_adopt_all(void)
{
	char buffer[1024] __attribute__((aligned(8)));
	long dir = raw(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (dir < 0)
		return;
	while ((n = raw(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(buffer + at);
			int fd = e->d_name[0] == '.' ? -1 : number_of(e->d_name);

			if (fd >= 0 && fd != dir)
				leat_fd_adopt(fd);
			at += e->d_reclen;
		}
	raw(SYS_close, dir);
}
