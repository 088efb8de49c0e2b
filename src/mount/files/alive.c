/* How the program's processes end.
 *
 * The daemon may know the first one from before it became this program, and would take its end
 * for an abnormal one. It holds a file of the mount open, and its children with it, which the
 * kernel closes, as all files, before anybody learns of the end. */
#include "mount/files/alive.h"
#include "mount/callers/caller.h"
#include "mount/files/open_files.h"
#include "mount/guard/bypass.h"
#include "mount/names/handle.h"
#include "mount/names/node.h"
#include "mount/record/people.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

/* Out of the program's way, as the descriptors of the interception library. */
enum { HIDE_FROM = 1000 };

/* A process that has closed a file empty: it counts if that ends normally. */
struct leat_closer {
	UT_hash_handle hh;
	pid_t pid;
};

void leat_alive_hold(const char *dir)
{
	char path[PATH_MAX];
	struct rlimit limit;
	int fd, from = HIDE_FROM;

	if (snprintf(path, sizeof(path), "%s/" LEAT_ALIVE_NAME, dir) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDONLY);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HIDE_FROM + 16)
		from = (int)(limit.rlim_cur / 2);
	if (fd >= 0 && fcntl(fd, F_DUPFD, from) >= 0)
		close(fd);
}

bool leat_alive_is(struct leat_mount *m, fuse_ino_t parent, const char *name)
{
	return !m->program && parent == FUSE_ROOT_ID && strcmp(name, LEAT_ALIVE_NAME) == 0;
}

void leat_alive_entry(struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){.ino = LEAT_ALIVE_INO,
				       .attr = {.st_mode = S_IFREG | 0444, .st_nlink = 1}};
}

void leat_alive_opened(struct leat_mount_call *call)
{
	call->m->program = leat_caller_process(call->tid);
	leat_record_program(call->m);
}

static struct leat_closer *find_closer(struct leat_mount *m, pid_t pid)
{
	struct leat_closer *c;

	HASH_FIND_INT(m->closers, &pid, c);
	return c;
}

/* Without memory its end is taken for a normal one. */
static void note_closer(struct leat_mount *m, pid_t pid)
{
	struct leat_closer *c = find_closer(m, pid) ? NULL : calloc(1, sizeof(*c));

	if (!c)
		return;
	c->pid = pid;
	HASH_ADD_INT(m->closers, pid, c);
	if (!c->hh.tbl)
		free(c);
}

static void forget_closer(struct leat_mount *m, struct leat_closer *c)
{
	HASH_DEL(m->closers, c);
	free(c);
}

bool leat_alive_closing(struct leat_handle *h, pid_t tid)
{
	struct leat_mount *m = h->m;
	struct stat st;
	pid_t process;
	int status;
	bool killed = leat_caller_ending(tid, &process, &status) && WIFSIGNALED(status);

	pthread_mutex_lock(&m->lock);
	h->abnormal = killed;
	h->closer = process;
	if (!killed && process && fstat(h->fd, &st) == 0 && !st.st_size)
		note_closer(m, process);
	pthread_mutex_unlock(&m->lock);
	return killed;
}

void leat_alive_report_closing(struct leat_mount_call *call, uint32_t slot, uint64_t ofd)
{
	const struct leat_msg_closed closed = {
		.h.type = LEAT_MSG_CLOSED, .slot = slot, .killed = LEAT_WIRE_CLOSING, .ofd = ofd};

	if (call->connection)
		leat_channel_report(leat_mount_channel(call), &closed.h);
}

/* What it has closed and still mapped the kernel releases after the descriptors. One of these. */
static bool take_mapping(struct leat_mount *m, pid_t pid, bool killed, uint32_t *slot,
			 uint64_t *ofd)
{
	struct leat_handle *h;

	pthread_mutex_lock(&m->lock);
	DL_SEARCH_SCALAR2(m->handles, h, closer, pid, all_next);
	if (h) {
		h->abnormal = killed;
		h->closer = 0;
		*slot = h->slot;
		*ofd = h->ofd;
	}
	pthread_mutex_unlock(&m->lock);
	return h;
}

static void end_mappings(struct leat_mount_call *call, pid_t pid, bool killed)
{
	uint64_t ofd;
	uint32_t slot;

	while (take_mapping(call->m, pid, killed, &slot, &ofd))
		if (killed)
			leat_alive_report_closing(call, slot, ofd);
}

/* Who waits for the process must find that its empty closes count. */
static void report_ended(struct leat_mount_call *call, pid_t pid, bool killed)
{
	if (leat_connection_ended(call->connection, pid, killed) && killed) {
		pthread_mutex_lock(&call->m->lock);
		call->m->cut_short = true;
		pthread_mutex_unlock(&call->m->lock);
	}
}

static void process_ends(struct leat_mount_call *call, pid_t pid, bool killed)
{
	struct leat_mount *m = call->m;
	struct leat_closer *c;

	end_mappings(call, pid, killed);
	pthread_mutex_lock(&m->lock);
	c = find_closer(m, pid);
	if (c)
		forget_closer(m, c);
	pthread_mutex_unlock(&m->lock);
	if (c)
		report_ended(call, pid, killed);
}

/* One that has closed what it did not know (closefrom), and so ended without a word. */
static pid_t take_gone(struct leat_mount *m)
{
	struct leat_closer *c, *next;
	pid_t pid = 0;

	pthread_mutex_lock(&m->lock);
	HASH_ITER(hh, m->closers, c, next)
	if (!pid && kill(c->pid, 0) < 0 && errno == ESRCH) {
		pid = c->pid;
		forget_closer(m, c);
	}
	pthread_mutex_unlock(&m->lock);
	return pid;
}

void leat_alive_poll(struct leat_mount_call *call)
{
	pid_t pid;

	while (call->connection && (pid = take_gone(call->m)))
		report_ended(call, pid, false);
}

static void judge_unread(struct leat_mount_call *call)
{
	char path[PATH_MAX];

	if (leat_nodes_unread(call->m, path))
		leat_bypass_fail_unread(call->m, call->tid, path);
}

void leat_alive_flushed(struct leat_mount_call *call)
{
	pid_t process;
	int status;

	if (!leat_caller_ending(call->tid, &process, &status))
		return;
	process_ends(call, process, WIFSIGNALED(status));
	if (process == call->m->program)
		judge_unread(call);
	if (process == call->m->program && WIFEXITED(status))
		leat_connection_exiting(call->connection, process, WEXITSTATUS(status));
}

bool leat_alive_end(struct leat_mount *m)
{
	struct leat_closer *c, *next;

	HASH_ITER(hh, m->closers, c, next)
	forget_closer(m, c);
	return m->cut_short;
}
