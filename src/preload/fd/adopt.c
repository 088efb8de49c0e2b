/* Descriptors this process did not open itself: inherited over exec, or sent by
 * another process. What they are is asked of the kernel and the daemon. */
#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
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

/* May it be ours? The daemon is bothered only for files whose name looks like it. Sets `name` to
 * that; "": it has none. */
static bool is_candidate(char name[PATH_MAX], int fd, const struct stat *st)
{
	if (leat_fd_name(fd, name, PATH_MAX) < 0)
		name[0] = 0;
	if (leat_server_known() && st->st_dev == leat_server_known()->store_dev)
		return true;
	return leat_path_of_name(name) || leat_path_may_be_store(name);
}

static bool is_file_or_dir(int fd, struct stat *st)
{
	return !raw(SYS_fstat, fd, st) && (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode));
}

/* Sets *r to what the daemon says that it is. 0, or -errno: the daemon could not be asked. */
static int identify(struct leat_thread *t, int fd, const struct stat *st, struct leat_fd *r)
{
	const struct leat_msg_resolved *reply = (const struct leat_msg_resolved *)t->msg;
	long flags = raw(SYS_fcntl, fd, F_GETFL);
	int rc;

	*r = (struct leat_fd){.kind = LEAT_KIND_NONE};
	if (flags < 0)
		return 0;
	if (leat_fd_name(fd, t->name, sizeof(t->name)) < 0)
		t->name[0] = 0;
	rc = leat_channel_identify(leat_client_channel(t), st, (int)flags, t->name);
	if (rc || (reply->error && reply->error != -EAGAIN))
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
	return 0;
}

void leat_fd_adopt(int fd)
{
	struct leat_guard g;
	struct leat_fd r;
	struct stat st;
	int rc = -EBADF;

	if (leat_fd_hidden(fd) || !is_file_or_dir(fd, &st) || leat_guard_acquire(&g))
		return;
	if (is_candidate(g.t->name, fd, &st))
		rc = identify(g.t, fd, &st, &r);
	leat_guard_release(&g);
	if (!rc && r.kind != LEAT_KIND_NONE)
		leat_fd_set(fd, &r);
}

/* ---- asked about when it is used ---- */

/* One thread asks, with signals blocked, so that no handler of it waits for it; others wait. False:
 * it has been found out, or closed. */
static bool begin_asking(int fd)
{
	while (leat_fd_is_unasked(fd)) {
		if (leat_byte_claim(&leat_fd_kinds[fd], LEAT_FD_KIND_UNASKED, LEAT_FD_KIND_ASKING))
			return true;
		leat_sleep(LEAT_SLEEP_NS);
	}
	return false;
}

int leat_fd_ask(int fd)
{
	struct leat_fd r = {.kind = LEAT_KIND_NONE};
	struct leat_guard g;
	struct stat st;
	int rc;

	/* In a vfork child only if its parent could not ask: that was said. */
	if (leat_in_vfork())
		return 0;
	rc = leat_guard_acquire(&g);
	if (rc)
		return rc;
	if (begin_asking(fd)) {
		if (is_file_or_dir(fd, &st))
			rc = identify(g.t, fd, &st, &r);
		if (rc || r.kind == LEAT_KIND_NONE || leat_fd_set(fd, &r))
			leat_byte_set(&leat_fd_kinds[fd], rc ? LEAT_FD_KIND_UNASKED : 0);
	}
	leat_guard_release(&g);
	return rc;
}

void leat_fd_learn_all(void)
{
	int stop = leat_fd_end();

	for (int fd = 0; fd < stop; fd++)
		leat_fd_learn(fd);
}

/* It has a lock then, which the kernel shows. */
bool leat_fd_is_awaited(int fd)
{
	char text[1024] = "/proc/self/fdinfo/";
	struct leat_text path = {.at = text, .size = sizeof(text), .used = strlen(text)};
	long file, n;

	leat_text_add_number(&path, (unsigned)fd);
	file = raw(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true;
	n = raw(SYS_read, file, text, sizeof(text) - 1);
	raw(SYS_close, file);
	if (n < 0 || n == sizeof(text) - 1)
		return true;
	text[n] = 0;
	for (const char *at = text; *at; at++)
		if (strncmp(at, "OFDLCK", 6) == 0)
			return true;
	return false;
}

/* Who has a file open that the daemon waits for must be seen to die. And where nobody else looks
 * after the step it is the life of its known processes, and its end the first one's. */
static bool is_to_be_known(int fd)
{
	return !leat_session.is_run || leat_fd_is_awaited(fd);
}

/* Of a descriptor that the program before this one has left open. Every program looks at its
 * standard streams, and few do something with all of them. */
static void look(int fd, uint32_t pid)
{
	char name[PATH_MAX];
	struct stat st;

	if (leat_fd_hidden(fd) || !is_file_or_dir(fd, &st))
		return;
	/* Wrappers do not see all calls. */
	if (S_ISDIR(st.st_mode) || leat_has_wrappers || !leat_fd_in_range(fd)) {
		leat_fd_adopt(fd);
		return;
	}
	if (!is_candidate(name, fd, &st))
		return;
	/* Paths lead through it, by /proc/self/fd and /dev/stdin: they have to be known for what
	 * they are. */
	if (!leat_path_of_name(name) || (!leat_client_is_known(pid) && is_to_be_known(fd))) {
		leat_fd_adopt(fd);
		return;
	}
	leat_fd_set_kind(fd, LEAT_FD_KIND_UNASKED);
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
static bool look_at_listed(char **envp, uint32_t pid)
{
	char *list = (char *)(uintptr_t)leat_environment_get(envp, "LEAT_OPEN");
	const char *at = list;
	bool is_ours = at && read_number(&at) == (long)pid;
	long fd;

	if (!list)
		return false;
	if (is_ours && *at == '+') {
		leat_client_note_known(pid);
		at++;
	}
	is_ours = is_ours && at[0] == ':' && at[1] != '*';
	while (is_ours && *at) {
		at++; /* ':' or ',' */
		fd = read_number(&at);
		if (fd >= 0)
			look((int)fd, pid);
	}
	*list = 0;
	return is_ours;
}

static int number_of(const char *name)
{
	long n = read_number(&name);

	return *name ? -1 : (int)n;
}

/* The kernel says which there are. */
static void look_at_open(uint32_t pid)
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
				look(fd, pid);
			at += e->d_reclen;
		}
	raw(SYS_close, dir);
}

void leat_fd_adopt_all(char **envp, uint32_t pid)
{
	if (!look_at_listed(envp, pid))
		look_at_open(pid);
}
