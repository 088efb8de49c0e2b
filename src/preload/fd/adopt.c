/* Descriptors this process did not open itself: inherited over exec, or sent by
 * another process. What they are is asked of the kernel and the daemon. */
#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/text.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/table.h"
#include "preload/path/names.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* May it be ours? The daemon is bothered only for files whose name looks like it. */
static bool is_candidate(struct leat_thread *t, int fd, const struct stat *st)
{
	if (leat_server_known() && st->st_dev == leat_server_known()->store_dev)
		return true;
	if (leat_fd_name(fd, t->name, sizeof(t->name)) < 0)
		return false;
	return leat_path_of_name(t->name) || leat_path_may_be_store(t->name);
}

static int identify(struct leat_thread *t, int fd, const struct stat *st, struct leat_fd *r)
{
	const struct leat_msg_resolved *reply = (const struct leat_msg_resolved *)t->msg;
	long flags = raw(SYS_fcntl, fd, F_GETFL);
	int rc;

	if (flags < 0)
		return (int)flags;
	if (leat_fd_name(fd, t->name, sizeof(t->name)) < 0)
		t->name[0] = 0;
	rc = leat_channel_identify(leat_client_channel(t), st, (int)flags, t->name);
	if (rc)
		return rc;
	*r = (struct leat_fd){.kind = (uint8_t)reply->kind,
			      .slot = reply->slot,
			      .generation = reply->generation,
			      .flags = {LEAT_FD_UNSURE},
			      .ofd = reply->ofd};
	if (r->kind == LEAT_KIND_CONSUMER && leat_client_file(r->slot) &&
	    leat_shm_flags(leat_client_file(r->slot)) & LEAT_SHM_DROP)
		leat_fd_set_flags(r, LEAT_FD_DROP);
	if (flags & O_APPEND)
		leat_fd_set_flags(r, LEAT_FD_APPEND);
	if ((flags & O_ACCMODE) != O_RDONLY)
		leat_fd_set_flags(r, LEAT_FD_WRITE);
	if (reply->input)
		leat_fd_set_flags(r, LEAT_FD_INPUT);
	if (reply->intact)
		leat_fd_set_flags(r, LEAT_FD_INTACT);
	return reply->error && reply->error != -EAGAIN ? reply->error : 0;
}

void leat_fd_adopt(int fd)
{
	struct leat_guard g;
	struct leat_fd r;
	struct stat st;
	int rc = -EBADF;

	/* First what is cheap: every program asks this of its standard streams. */
	if (leat_fd_hidden(fd) || raw(SYS_fstat, fd, &st) ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) || leat_guard_acquire(&g))
		return;
	if (is_candidate(g.t, fd, &st))
		rc = identify(g.t, fd, &st, &r);
	leat_guard_release(&g);
	if (!rc && r.kind != LEAT_KIND_NONE)
		leat_fd_set(fd, &r);
}

/* -1: does not begin with one. */
static long read_number(const char **text)
{
	const char *begin = *text;
	long n = 0;

	for (; **text >= '0' && **text <= '9' && n < INT_MAX; (*text)++)
		n = n * 10 + (**text - '0');
	return *text == begin ? -1 : n;
}

/* False if nobody has said, of this very process, which there are. It is said once: a program
 * that does not load this library hands its environment on as it got it. */
static bool adopt_listed(char **envp)
{
	char *list = (char *)(uintptr_t)leat_environment_get(envp, "LEAT_OPEN");
	const char *at = list;
	bool is_ours = at && read_number(&at) == raw(SYS_getpid) && *at == ':';
	long fd;

	if (!list)
		return false;
	while (is_ours && *at) {
		at++; /* ':' or ',' */
		fd = read_number(&at);
		if (fd >= 0)
			leat_fd_adopt((int)fd);
	}
	*list = 0;
	return is_ours;
}

static int number_of(const char *name)
{
	long n = read_number(&name);

	return *name ? -1 : (int)n;
}

/* Asks the kernel. */
static void adopt_open(void)
{
	char buffer[1024] __attribute__((aligned(8)));
	long dir = raw(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (dir < 0) {
		leat_lost(dir == -EMFILE || dir == -ENFILE || dir == -ENOMEM ? leat_lost_cause(dir)
									     : LEAT_LOST_PROC);
		return;
	}
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

void leat_fd_adopt_all(char **envp)
{
	if (!adopt_listed(envp))
		adopt_open();
}
