/* What the program has from before the mount: descriptors on the real files, whose offsets are
 * shared with others, and a working directory below the mount. */
#include "mount/inherit.h"
#include "mount/daemon/handshake.h"
#include "mount/daemon/wait.h"
#include "mount/record/people.h"

#include "base/fd.h"
#include "base/str.h"
#include "eventlog/call.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Part of `path` below `dir`, or NULL. */
static const char *below(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	if (strncmp(path, dir, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path[length] ? path + length + 1 : path + length;
}

static const char *inside(const struct leat_mount *m, const char *path)
{
	const char *rest = below(path, m->store_path);

	return rest ? rest : below(path, m->spec->dir);
}

static bool is_spilled(const char *path)
{
	return strstr(path, "/" LEAT_SPILL_PREFIX) != NULL;
}

static bool read_name(const char *link, char out[PATH_MAX])
{
	ssize_t n = readlink(link, out, PATH_MAX - 1);

	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

bool leat_inherit_cwd(const struct leat_mount *m, char *out)
{
	char name[PATH_MAX];
	const char *rest = read_name("/proc/self/cwd", name) ? inside(m, name) : NULL;

	if (!rest)
		return false;
	return snprintf(out, PATH_MAX, "%s%s%s", m->spec->dir, *rest ? "/" : "", rest) < PATH_MAX;
}

/* Which file is it, to this step, and where is it? */
struct inherited {
	uint32_t kind, slot, generation;
	bool intact;
	uint64_t ofd;
};

static int identify(struct leat_mount_call *call, int fd, const struct stat *st, const char *name,
		    struct inherited *in)
{
	const struct leat_msg_resolved *reply =
		(const struct leat_msg_resolved *)call->connection->msg;
	int rc = leat_channel_identify(leat_mount_channel(call), st, fcntl(fd, F_GETFL), name);

	if (rc)
		return rc;
	*in = (struct inherited){reply->kind, reply->slot, reply->generation, reply->intact,
				 reply->ofd};
	return 0;
}

/* The file may have moved since the descriptor was opened, or be about to. */
static int follow(struct leat_mount_call *call, int fd, const struct inherited *in, int peer)
{
	struct leat_shm_file *f = leat_mount_file(call, in->slot);
	uint32_t seq, generation;
	int rc = 0, new;

	while (!rc && f) {
		seq = leat_shm_seq(f);
		generation = leat_shm_generation(f);
		if (generation == in->generation)
			return 0;
		rc = -EAGAIN;
		if (generation % LEAT_GENERATION_NEXT == 0)
			rc = leat_connection_replace_fd(call->connection, in->slot, fd, &seq,
							&generation, &new);
		if (!rc)
			return new < 0 ? 0 : leat_handshake_exchange(peer, fd, new);
		if (rc == -EAGAIN)
			rc = leat_mount_sleep(call, in->slot, seq);
	}
	return rc;
}

/* Its reads are seen by nobody: what it may read must be there. */
static int await_bytes(struct leat_mount_call *call, const struct inherited *in)
{
	struct leat_shm_file *f = leat_mount_file(call, in->slot);

	if (f && !leat_shm_retain(f))
		return -EIO; /* not retained, and partly gone */
	return leat_mount_await_whole(call, in->slot);
}

/* Nor are its writes. */
static int report_wrote(struct leat_mount_call *call, const struct inherited *in)
{
	const struct leat_msg_wrote wrote = {
		.h.type = LEAT_MSG_WROTE, .slot = in->slot, .ofd = in->ofd};

	return leat_channel_report(leat_mount_channel(call), &wrote.h);
}

/* They may be anywhere: of what several steps write, all of it. */
static int report_written(struct leat_mount_call *call, int fd, const struct inherited *in)
{
	struct leat_shm_file *f = leat_mount_file(call, in->slot);
	int flags = fcntl(fd, F_GETFL);
	const struct leat_msg_written written = {.h.type = LEAT_MSG_WRITTEN,
						 .slot = in->slot,
						 .appended = flags & O_APPEND ? 1 : 0,
						 .ofd = in->ofd,
						 .length = UINT64_MAX};

	if (!f || !(leat_shm_flags(f) & LEAT_SHM_SHARED) || (flags & O_ACCMODE) == O_RDONLY)
		return 0;
	return leat_channel_report(leat_mount_channel(call), &written.h);
}

/* They find no space otherwise than by ENOSPC, which leat does not see: the file goes to disk
 * first.
 */
static int put_aside(struct leat_mount_call *call, const struct inherited *in, int peer)
{
	struct leat_msg_ask_aside question = {.h.type = LEAT_MSG_ASK_ASIDE, .slot = in->slot};
	struct ucred who = {0};
	socklen_t size = sizeof(who);
	uint32_t seq;
	int rc = -EAGAIN;

	getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size);
	question.pid = who.pid;
	for (; rc == -EAGAIN; question.attempt++) {
		rc = leat_channel_ask(leat_mount_channel(call), &question.h, &seq);
		if (rc == -EAGAIN && leat_mount_sleep(call, in->slot, seq))
			return -EINTR;
	}
	return rc;
}

static bool is_written(const struct inherited *in)
{
	return in->slot && (in->kind == LEAT_KIND_PRODUCER || in->kind == LEAT_KIND_PUBLISHER);
}

static int settle(struct leat_mount_call *call, int fd, int peer)
{
	char link[64], name[PATH_MAX];
	struct inherited in;
	struct stat st;
	int rc;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_name(link, name))
		return 0;
	if (st.st_dev != call->m->store_dev && !inside(call->m, name) && !is_spilled(name))
		return 0;
	rc = identify(call, fd, &st, name, &in);
	if (rc)
		return rc;
	leat_record_inherited(call->m);
	if (in.intact)
		rc = report_wrote(call, &in);
	if (!rc)
		rc = report_written(call, fd, &in);
	if (!rc && in.kind == LEAT_KIND_CONSUMER)
		rc = await_bytes(call, &in);
	if (!rc && is_written(&in) && st.st_dev == call->m->store_dev)
		rc = put_aside(call, &in, peer);
	return rc ? rc : follow(call, fd, &in, peer);
}

static bool is_ours(const struct leat_mount_call *call, int fd)
{
	const struct leat_mount *m = call->m;

	return fd == m->store_fd || fd == m->dir_fd || fd == m->socket_fd ||
	       fd == call->connection->fd;
}

static int settle_and_close(struct leat_mount_call *call, DIR *dir, int peer)
{
	struct dirent *e;
	int rc = 0;

	while (!rc && (e = readdir(dir))) {
		int fd = e->d_name[0] == '.' ? -1 : atoi(e->d_name);

		if (fd < 0 || fd == dirfd(dir) || fd == peer || is_ours(call, fd))
			continue;
		rc = settle(call, fd, peer);
		if (fd != STDERR_FILENO)
			close(fd);
	}
	return rc;
}

int leat_inherit_settle(struct leat_mount_call *call, int peer)
{
	DIR *dir = opendir("/proc/self/fd");
	int rc, null;

	if (!dir)
		return -errno;
	rc = settle_and_close(call, dir, peer);
	closedir(dir);
	/* The standard descriptors are not to be taken by files. */
	do
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null < STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	return rc;
}
