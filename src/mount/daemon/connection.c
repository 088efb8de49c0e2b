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

static int send_msg(struct leat_connection *connection)
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

/* A reply of that type, with `n_fds` descriptors, or none. 0 or -EIO. */
static int receive(struct leat_connection *connection, enum leat_msg_type type, int *fds,
		   size_t n_fds)
{
	ssize_t n = leat_handshake_receive_with(connection->fd, connection->msg,
						sizeof(connection->msg), fds, n_fds);

	if (leat_channel_is_reply(connection->msg, n, type))
		return 0;
	hang_up(connection);
	return -EIO;
}

static struct leat_connection *connection_of(struct leat_channel *c)
{
	return (struct leat_connection *)(void *)((char *)c -
						  offsetof(struct leat_connection, channel));
}

/* Who has lost it gets another one for the next call. */
static int connect_on(struct leat_channel *c)
{
	return connection_of(c)->fd < 0 ? -EIO : 0;
}

static int send_on(struct leat_channel *c)
{
	return send_msg(connection_of(c));
}

static int roundtrip(struct leat_channel *c, enum leat_msg_type reply)
{
	struct leat_connection *connection = connection_of(c);
	int rc = send_msg(connection);

	return rc ? rc : receive(connection, reply, NULL, 0);
}

static int exchange(struct leat_channel *c, enum leat_msg_type reply, int fd, int *received)
{
	struct leat_connection *connection = connection_of(c);
	const struct leat_msg *h = (const struct leat_msg *)connection->msg;

	if (leat_handshake_send_with(connection->fd, h, h->size, fd)) {
		hang_up(connection);
		return -EIO;
	}
	return receive(connection, reply, received, 1);
}

struct leat_channel *leat_connection_channel(struct leat_connection *connection)
{
	connection->channel = (struct leat_channel){.msg = connection->msg,
						    .connect = connect_on,
						    .send = send_on,
						    .roundtrip = roundtrip,
						    .exchange = exchange};
	return &connection->channel;
}

static int dial(struct leat_connection *connection)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct leat_mount *m = connection->m;
	const struct leat_channel_greeting greeting = {.step = m->spec->step,
						       .workflow = m->spec->workflow,
						       .program = LEAT_PROGRAM_MOUNT,
						       .key = m->spec->key,
						       .steady = true};

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
	if (leat_channel_greet(connection->msg, &greeting))
		return -EMSGSIZE;
	return send_msg(connection);
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
	int fds[2] = {-1, -1};
	const char *why;
	int rc = dial(connection);

	if (!rc)
		rc = receive(connection, LEAT_MSG_WELCOME, fds, 2);
	why = rc ? NULL : leat_channel_refusal(connection->msg);
	if (why) {
		leat_error("%s", why);
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

static int report_exiting(struct leat_connection *connection, pid_t pid, int status,
			  const char *what)
{
	struct leat_channel *c = leat_connection_channel(connection);
	int rc = leat_channel_ended(c, LEAT_MSG_EXITING, pid ? pid : getpid(), status,
				    connection->m->spec->step, what);

	return rc ? rc : leat_channel_sync(c);
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
			       uint32_t *seq, uint32_t *generation, int *new)
{
	const struct leat_msg_replaced_fd *reply =
		(const struct leat_msg_replaced_fd *)connection->msg;
	int rc = leat_channel_replace_fd(leat_connection_channel(connection), slot, fd, new);

	if (rc == -EAGAIN)
		*seq = reply->seq;
	if (!rc)
		*generation = reply->generation;
	return rc;
}

bool leat_connection_alive(struct leat_connection *connection)
{
	struct pollfd p = {.fd = connection->fd, .events = POLLRDHUP};

	if (connection->fd < 0 || !leat_shm_alive(connection->m->shm))
		return false;
	return poll(&p, 1, 0) <= 0 || !p.revents;
}
