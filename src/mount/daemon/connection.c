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

static void hang_up(struct leat_connection *connection)
{
	leat_close(&connection->fd);
}

static void free_connection(void *arg)
{
	struct leat_connection *connection = arg;

	if (connection->other)
		free_connection(connection->other);
	hang_up(connection);
	free(connection);
}

static bool is_reply(const struct leat_connection *connection, ssize_t n, enum leat_msg_type type)
{
	const struct leat_msg *h = (const struct leat_msg *)connection->msg;

	LEAT_FAULT_MESSAGE("answered", type);
	return n > 0 && !leat_wire_check(connection->msg, (size_t)n, leat_wire_fixed_size(type)) &&
	       h->type == type;
}

void *leat_connection_begin(struct leat_connection *connection, enum leat_msg_type type)
{
	return leat_wire_begin(connection->msg, type, leat_wire_fixed_size(type));
}

int leat_connection_send(struct leat_connection *connection)
{
	const struct leat_msg *h = (const struct leat_msg *)connection->msg;
	ssize_t n;

	LEAT_FAULT_MESSAGE("send", h->type);
	do
		n = send(connection->fd, connection->msg, h->size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	LEAT_FAULT_MESSAGE("sent", h->type);
	if (n == (ssize_t)h->size)
		return 0;
	hang_up(connection);
	return -EIO;
}

/* With `n_fds` descriptors, or none. Bytes or -errno. */
static ssize_t receive(struct leat_connection *connection, int *fds, size_t n_fds)
{
	return leat_handshake_receive_with(connection->fd, connection->msg, sizeof(connection->msg),
					   fds, n_fds);
}

int leat_connection_roundtrip(struct leat_connection *connection, enum leat_msg_type reply)
{
	int rc = leat_connection_send(connection);

	if (!rc && !is_reply(connection, receive(connection, NULL, 0), reply)) {
		hang_up(connection);
		rc = -EIO;
	}
	return rc;
}

static int dial(struct leat_connection *connection)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct leat_mount *m = connection->m;
	struct leat_msg_hello *hello;

	/* The socket's directory is shut for other users than this one. */
	if (connection->user.uid)
		snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", m->socket_fd);
	else
		memcpy(to.sun_path, m->socket, strlen(m->socket) + 1);
	connection->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connection->fd < 0 || connect(connection->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	if (!leat_wire_peer_is_trusted(connection->fd))
		return -EPERM;
	hello = leat_connection_begin(connection, LEAT_MSG_HELLO);
	hello->steady = 1;
	if (leat_wire_put(connection->msg, m->spec->step) ||
	    leat_wire_put(connection->msg, m->spec->workflow) ||
	    leat_wire_put(connection->msg, LEAT_PROGRAM_MOUNT) ||
	    leat_wire_put(connection->msg, m->spec->key))
		return -EMSGSIZE;
	return leat_connection_send(connection);
}

/* What the daemon says at the first connection. Takes the descriptors over. */
static int learn(struct leat_connection *connection, int fds[2])
{
	const struct leat_msg_welcome *w = (const struct leat_msg_welcome *)connection->msg;
	const char *store = leat_wire_string(w, sizeof(*w), 1);
	struct leat_mount *m = connection->m;
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

static int greet(struct leat_connection *connection)
{
	const struct leat_msg_welcome *w = (const struct leat_msg_welcome *)connection->msg;
	int fds[2] = {-1, -1};
	const char *why;
	int rc = dial(connection);

	if (!rc && !is_reply(connection, receive(connection, fds, 2), LEAT_MSG_WELCOME))
		rc = -EIO;
	if (!rc && w->error) {
		why = leat_wire_string(w, sizeof(*w), 3);
		leat_error("%s", why && *why ? why : "the daemon refused this process");
		rc = -EPERM;
	}
	if (!rc)
		rc = learn(connection, fds);
	leat_close(&fds[0]);
	leat_close(&fds[1]);
	if (rc)
		hang_up(connection);
	return rc;
}

static struct leat_connection *new_connection(struct leat_mount *m)
{
	struct leat_connection *connection = malloc(sizeof(*connection));

	if (connection) {
		connection->m = m;
		connection->fd = -1;
		connection->other = NULL;
		memset(&connection->user, 0, sizeof(connection->user));
	}
	return connection;
}

int leat_connection_get(struct leat_mount *m, struct leat_connection **out)
{
	struct leat_connection *connection = pthread_getspecific(m->connections);

	if (!connection) {
		connection = new_connection(m);
		if (!connection)
			return -ENOMEM;
		pthread_setspecific(m->connections, connection);
	}
	if (connection->fd < 0 && greet(connection))
		return -EIO;
	*out = connection;
	return 0;
}

static bool is_same(const struct leat_caller *a, const struct leat_caller *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->n == b->n &&
	       memcmp(a->groups, b->groups, (size_t)a->n * sizeof(gid_t)) == 0;
}

/* The daemon asks the kernel who connects, so this thread is that user for the moment; glibc's
 * calls would take all threads along. */
static int greet_as(struct leat_connection *connection, const struct leat_caller *user)
{
	int rc = -EPERM;

	if (syscall(SYS_setgroups, user->n, user->groups) == 0 &&
	    syscall(SYS_setresgid, -1, user->gid, -1) == 0 &&
	    syscall(SYS_setresuid, -1, user->uid, -1) == 0)
		rc = greet(connection);
	syscall(SYS_setresuid, -1, 0, -1);
	syscall(SYS_setresgid, -1, connection->m->own.gid, -1);
	syscall(SYS_setgroups, connection->m->own.n, connection->m->own.groups);
	return rc;
}

int leat_connection_get_as(struct leat_mount *m, const struct leat_caller *user,
			   struct leat_connection **out)
{
	struct leat_connection *own;
	int rc = leat_connection_get(m, &own);

	if (!rc && !own->other && !(own->other = new_connection(m)))
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

int leat_connection_first(struct leat_mount *m)
{
	struct leat_connection *connection;
	int rc = pthread_key_create(&m->connections, free_connection);

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
	rc = leat_connection_get(m, &connection);
	if (rc)
		leat_error("no leat daemon for %s: start it with leat run or leat serve",
			   m->spec->dir);
	return rc;
}

int leat_connection_fact(struct leat_connection *connection, enum leat_msg_type type,
			 const struct leat_msg_fact *fact)
{
	struct leat_msg_fact *m = leat_connection_begin(connection, type);
	struct leat_msg h = m->h;

	*m = *fact;
	m->h = h;
	return leat_connection_send(connection);
}

int leat_connection_ask(struct leat_connection *connection, uint32_t call, uint32_t slot,
			uint64_t offset, uint64_t length, uint32_t *seq)
{
	const struct leat_msg_answer *answer = (const struct leat_msg_answer *)connection->msg;
	struct leat_msg_ask *m = leat_connection_begin(connection, LEAT_MSG_ASK);
	int rc;

	m->call = call;
	m->slot = slot;
	m->offset = offset;
	m->length = length;
	rc = leat_connection_roundtrip(connection, LEAT_MSG_ANSWER);
	if (rc)
		return rc;
	*seq = answer->seq;
	return answer->error;
}

int leat_connection_violation(struct leat_connection *connection, uint32_t code, uint32_t slot,
			      uint64_t offset, uint64_t length)
{
	struct leat_msg_fact fact = {
		.slot = slot, .code = code, .offset = offset, .length = length};
	uint32_t seq;
	int rc = leat_connection_fact(connection, LEAT_MSG_VIOLATED, &fact);

	if (!rc)
		rc = leat_connection_ask(connection, LEAT_CALL_WRITE, slot, offset, length, &seq);
	return rc == -EIO ? -EIO : 0;
}

static int report_exiting(struct leat_connection *connection, pid_t pid, int status,
			  const char *what)
{
	struct leat_msg_step *m = leat_connection_begin(connection, LEAT_MSG_EXITING);
	uint32_t seq;
	int rc;

	m->pid = pid ? pid : getpid();
	m->status = status;
	rc = leat_wire_put(m, connection->m->spec->step);
	if (!rc)
		rc = leat_wire_put(m, what);
	if (!rc)
		rc = leat_connection_send(connection);
	return rc ? rc : leat_connection_ask(connection, LEAT_CALL_WRITE, 0, 0, 0, &seq);
}

int leat_connection_exiting(struct leat_connection *connection, pid_t pid, int status)
{
	return report_exiting(connection, pid, status, "");
}

int leat_connection_ended(struct leat_connection *connection, pid_t pid, bool killed)
{
	return report_exiting(connection, pid, killed ? LEAT_WIRE_CUT_SHORT : 0, LEAT_WIRE_BEHIND);
}

int leat_connection_replace_fd(struct leat_connection *connection, uint32_t slot, int fd,
			       uint32_t *seq, uint32_t *home, int *new)
{
	const struct leat_msg_switched *reply = (const struct leat_msg_switched *)connection->msg;
	struct leat_msg_switch *m = leat_connection_begin(connection, LEAT_MSG_SWITCH);

	*new = -1;
	m->slot = slot;
	if (leat_handshake_send_with(connection->fd, m, m->h.size, fd) ||
	    !is_reply(connection, receive(connection, new, 1), LEAT_MSG_SWITCHED)) {
		hang_up(connection);
		return -EIO;
	}
	*seq = reply->seq;
	*home = reply->home;
	return reply->error;
}

bool leat_connection_alive(struct leat_connection *connection)
{
	struct pollfd p = {.fd = connection->fd, .events = POLLRDHUP};

	if (connection->fd < 0 || !leat_shm_alive(connection->m->shm))
		return false;
	return poll(&p, 1, 0) <= 0 || !p.revents;
}
