/* A connection to the daemon for each thread: what waits is a connection. */
#include "mount/daemon/connection.h"
#include "mount/daemon/handshake.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "eventlog/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void hang_up(struct leat_line *line)
{
	leat_close(&line->fd);
}

static void free_line(void *arg)
{
	struct leat_line *line = arg;

	if (line->other)
		free_line(line->other);
	hang_up(line);
	free(line);
}

static bool is_reply(const struct leat_line *line, ssize_t n, enum leat_msg_type type)
{
	const struct leat_msg *h = (const struct leat_msg *)line->msg;

	LEAT_FAULT_MESSAGE("answered", type);
	return n > 0 && !leat_wire_check(line->msg, (size_t)n, leat_wire_fixed_size(type)) &&
	       h->type == type;
}

void *leat_line_begin(struct leat_line *line, enum leat_msg_type type)
{
	return leat_wire_begin(line->msg, type, leat_wire_fixed_size(type));
}

int leat_line_send(struct leat_line *line)
{
	const struct leat_msg *h = (const struct leat_msg *)line->msg;
	ssize_t n;

	LEAT_FAULT_MESSAGE("send", h->type);
	do
		n = send(line->fd, line->msg, h->size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	LEAT_FAULT_MESSAGE("sent", h->type);
	if (n == (ssize_t)h->size)
		return 0;
	hang_up(line);
	return -EIO;
}

/* With `n_fds` descriptors, or none. Bytes or -errno. */
static ssize_t receive(struct leat_line *line, int *fds, size_t n_fds)
{
	return leat_handshake_receive_with(line->fd, line->msg, sizeof(line->msg), fds, n_fds);
}

int leat_line_roundtrip(struct leat_line *line, enum leat_msg_type reply)
{
	int rc = leat_line_send(line);

	if (!rc && !is_reply(line, receive(line, NULL, 0), reply)) {
		hang_up(line);
		rc = -EIO;
	}
	return rc;
}

static int dial(struct leat_line *line)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct leat_mount *m = line->m;
	struct leat_msg_hello *hello;

	/* The socket's directory is shut for other users than this one. */
	if (line->user.uid)
		snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", m->socket_fd);
	else
		memcpy(to.sun_path, m->socket, strlen(m->socket) + 1);
	line->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (line->fd < 0 || connect(line->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	if (!leat_wire_peer_is_trusted(line->fd))
		return -EPERM;
	hello = leat_line_begin(line, LEAT_MSG_HELLO);
	hello->steady = 1;
	if (leat_wire_put(line->msg, m->spec->step) ||
	    leat_wire_put(line->msg, m->spec->workflow) ||
	    leat_wire_put(line->msg, LEAT_PROGRAM_MOUNT) || leat_wire_put(line->msg, m->spec->key))
		return -EMSGSIZE;
	return leat_line_send(line);
}

/* What the daemon says at the first connection. Takes the descriptors over. */
static int learn(struct leat_line *line, int fds[2])
{
	const struct leat_msg_welcome *w = (const struct leat_msg_welcome *)line->msg;
	const char *store = leat_wire_string(w, sizeof(*w), 1);
	struct leat_mount *m = line->m;
	int rc;

	if (m->shm || fds[1] < 0 || !store || strlen(store) >= sizeof(m->store_path))
		return m->shm ? 0 : -EPROTO;
	rc = leat_shm_map(fds[1], &m->shm);
	if (rc)
		return rc;
	strcpy(m->store_path, store);
	m->store_dev = w->store_dev;
	m->step = w->step;
	m->acts = w->acts;
	m->versions = w->versions;
	m->store_fd = fds[0];
	fds[0] = -1;
	return 0;
}

static int greet(struct leat_line *line)
{
	const struct leat_msg_welcome *w = (const struct leat_msg_welcome *)line->msg;
	int fds[2] = {-1, -1};
	const char *why;
	int rc = dial(line);

	if (!rc && !is_reply(line, receive(line, fds, 2), LEAT_MSG_WELCOME))
		rc = -EIO;
	if (!rc && w->error) {
		why = leat_wire_string(w, sizeof(*w), 3);
		leat_error("%s", why && *why ? why : "the daemon refused this process");
		rc = -EPERM;
	}
	if (!rc)
		rc = learn(line, fds);
	leat_close(&fds[0]);
	leat_close(&fds[1]);
	if (rc)
		hang_up(line);
	return rc;
}

static struct leat_line *new_line(struct leat_mount *m)
{
	struct leat_line *line = malloc(sizeof(*line));

	if (line) {
		line->m = m;
		line->fd = -1;
		line->other = NULL;
		memset(&line->user, 0, sizeof(line->user));
	}
	return line;
}

int leat_line_get(struct leat_mount *m, struct leat_line **out)
{
	struct leat_line *line = pthread_getspecific(m->lines);

	if (!line) {
		line = new_line(m);
		if (!line)
			return -ENOMEM;
		pthread_setspecific(m->lines, line);
	}
	if (line->fd < 0 && greet(line))
		return -EIO;
	*out = line;
	return 0;
}

static bool is_same(const struct leat_caller *a, const struct leat_caller *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->n == b->n &&
	       memcmp(a->groups, b->groups, (size_t)a->n * sizeof(gid_t)) == 0;
}

/* The daemon asks the kernel who connects, so this thread is that user for the moment; glibc's
 * calls would take all threads along. */
static int greet_as(struct leat_line *line, const struct leat_caller *user)
{
	int rc = -EPERM;

	if (syscall(SYS_setgroups, user->n, user->groups) == 0 &&
	    syscall(SYS_setresgid, -1, user->gid, -1) == 0 &&
	    syscall(SYS_setresuid, -1, user->uid, -1) == 0)
		rc = greet(line);
	syscall(SYS_setresuid, -1, 0, -1);
	syscall(SYS_setresgid, -1, line->m->own.gid, -1);
	syscall(SYS_setgroups, line->m->own.n, line->m->own.groups);
	return rc;
}

int leat_line_get_as(struct leat_mount *m, const struct leat_caller *user, struct leat_line **out)
{
	struct leat_line *own;
	int rc = leat_line_get(m, &own);

	if (!rc && !own->other && !(own->other = new_line(m)))
		rc = -ENOMEM;
	if (rc)
		return rc;
	if (own->other->fd >= 0 && !is_same(&own->other->user, user))
		hang_up(own->other);
	if (own->other->fd < 0) {
		own->other->user = *user;
		rc = greet_as(own->other, user);
	}
	if (!rc)
		*out = own->other;
	return rc ? -EIO : 0;
}

int leat_line_first(struct leat_mount *m)
{
	struct leat_line *line;
	int rc = pthread_key_create(&m->lines, free_line);

	if (rc)
		return -rc;
	rc = leat_wire_session_path(m->spec->runtime_dir, geteuid(), m->spec->dir, m->socket,
				    sizeof(m->socket));
	if (rc) {
		leat_error("LEAT_RUNTIME_DIR is too long for a socket's path");
		return rc;
	}
	m->socket_fd = m->as_root ? open(m->socket, O_PATH | O_CLOEXEC) : -1;
	m->own.gid = getegid();
	m->own.n = getgroups(LEAT_MAX_GROUPS, m->own.groups);
	if (m->own.n < 0)
		m->own.n = 0;
	rc = leat_line_get(m, &line);
	if (rc)
		leat_error("no leat daemon for %s: start it with leat run or leat serve",
			   m->spec->dir);
	return rc;
}

int leat_line_fact(struct leat_line *line, enum leat_msg_type type,
		   const struct leat_msg_fact *fact)
{
	struct leat_msg_fact *m = leat_line_begin(line, type);
	struct leat_msg h = m->h;

	*m = *fact;
	m->h = h;
	return leat_line_send(line);
}

int leat_line_ask(struct leat_line *line, uint32_t call, uint32_t slot, uint64_t offset,
		  uint64_t length, uint32_t *seq)
{
	const struct leat_msg_answer *answer = (const struct leat_msg_answer *)line->msg;
	struct leat_msg_ask *m = leat_line_begin(line, LEAT_MSG_ASK);
	int rc;

	m->call = call;
	m->slot = slot;
	m->offset = offset;
	m->length = length;
	rc = leat_line_roundtrip(line, LEAT_MSG_ANSWER);
	if (rc)
		return rc;
	*seq = answer->seq;
	return answer->error;
}

int leat_line_violation(struct leat_line *line, uint32_t code, uint32_t slot, uint64_t offset,
			uint64_t length)
{
	struct leat_msg_fact fact = {
		.slot = slot, .code = code, .offset = offset, .length = length};
	uint32_t seq;
	int rc = leat_line_fact(line, LEAT_MSG_VIOLATED, &fact);

	if (!rc)
		rc = leat_line_ask(line, LEAT_CALL_WRITE, slot, offset, length, &seq);
	return rc == -EIO ? -EIO : 0;
}

static int tell_exiting(struct leat_line *line, pid_t pid, int status, const char *what)
{
	struct leat_msg_step *m = leat_line_begin(line, LEAT_MSG_EXITING);
	uint32_t seq;
	int rc;

	m->pid = pid ? pid : getpid();
	m->status = status;
	rc = leat_wire_put(m, line->m->spec->step);
	if (!rc)
		rc = leat_wire_put(m, what);
	if (!rc)
		rc = leat_line_send(line);
	return rc ? rc : leat_line_ask(line, LEAT_CALL_WRITE, 0, 0, 0, &seq);
}

int leat_line_exiting(struct leat_line *line, pid_t pid, int status)
{
	return tell_exiting(line, pid, status, "");
}

int leat_line_ended(struct leat_line *line, pid_t pid, bool killed)
{
	return tell_exiting(line, pid, killed ? LEAT_WIRE_CUT_SHORT : 0, LEAT_WIRE_BEHIND);
}

int leat_line_switch(struct leat_line *line, uint32_t slot, int fd, uint32_t *seq, uint32_t *home,
		     int *new)
{
	const struct leat_msg_switched *reply = (const struct leat_msg_switched *)line->msg;
	struct leat_msg_switch *m = leat_line_begin(line, LEAT_MSG_SWITCH);

	*new = -1;
	m->slot = slot;
	if (leat_handshake_send_with(line->fd, m, m->h.size, fd) ||
	    !is_reply(line, receive(line, new, 1), LEAT_MSG_SWITCHED)) {
		hang_up(line);
		return -EIO;
	}
	*seq = reply->seq;
	*home = reply->home;
	return reply->error;
}

bool leat_line_alive(struct leat_line *line)
{
	struct pollfd p = {.fd = line->fd, .events = POLLRDHUP};

	if (line->fd < 0 || !leat_shm_alive(line->m->shm))
		return false;
	return poll(&p, 1, 0) <= 0 || !p.revents;
}
