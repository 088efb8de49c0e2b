/* The connection of each thread, and what is said on it. */
#include "preload/connection/client.h"

#include "base/fault.h"
#include "base/passing.h"
#include "preload/connection/handed.h"
#include "preload/connection/lost.h"
#include "preload/connection/roll_call.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/first.h"
#include "preload/core/log.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "shm/state.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

/* Set to 1 by the first who has to say it. */
static struct leat_word reported;
/* pid that has said hello; exit must then say goodbye */
static struct leat_word greeted LEAT_FIRST;
/* pid of which a program before this one has said hello */
static uint32_t known_before LEAT_FIRST;
/* of the vfork child that has said hello */
static __thread uint32_t transient_pid __attribute__((tls_model("initial-exec")));

static int complain(const char *what, const char *then)
{
	if (!leat_word_swap(&reported, 1))
		leat_log_line(what, leat_session.real, then, NULL);
	return -EIO;
}

/* The connection does not work any more, for -errno, because the other end has hung up (0), or
 * because it has said what nobody understands. */
static int gone(struct leat_thread *t, long error)
{
	const bool closed = error == -EBADF || error == -ENOTSOCK;

	if (t->conn >= 0 && closed)
		leat_fd_reveal(t->conn);
	else if (t->conn >= 0)
		leat_client_drop(t, t->conn);
	t->conn = -1;
	if (closed)
		return leat_lost(LEAT_LOST_CLOSED);
	if (error > 0)
		return leat_lost(LEAT_LOST_VERSION);
	if (error < 0 && error != -EPIPE && error != -ECONNRESET)
		return leat_lost(leat_lost_cause(error));
	return complain("the leat daemon for ", " is gone");
}

static int refused(long error)
{
	if (error != -ENOENT && error != -ECONNREFUSED)
		return leat_lost(error == -EACCES || error == -EPERM ? LEAT_LOST_USER
								     : leat_lost_cause(error));
	return leat_session.is_run
		       ? leat_lost(LEAT_LOST_UNREACHED)
		       : complain("no leat daemon for ", ": start it with leat run or leat serve");
}

/* Others may own a directory on the way, and put a socket of theirs in the daemon's place. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !raw(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       leat_wire_is_trusted(peer.uid, (unsigned)raw(SYS_geteuid));
}

static int open_socket(struct leat_thread *t)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	long fd = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	long rc;

	if (fd < 0)
		return leat_lost(leat_lost_cause(fd));
	memcpy(to.sun_path, leat_session.socket, strlen(leat_session.socket) + 1);
	rc = raw(SYS_connect, fd, &to, sizeof(to));
	if (rc == -EACCES && leat_user_socket() >= 0) {
		leat_fd_path(leat_user_socket(), to.sun_path);
		rc = raw(SYS_connect, fd, &to, sizeof(to));
	}
	if (!rc && !is_ours((int)fd))
		rc = -EPERM;
	if (rc < 0) {
		raw(SYS_close, fd);
		return refused(rc);
	}
	leat_user_note(&t->user);
	t->conn = leat_client_put_away(t, (int)fd);
	return 0;
}

static int send_msg(struct leat_thread *t)
{
	const struct leat_msg *h = (const struct leat_msg *)t->msg;
	long rc;

	LEAT_FAULT_MESSAGE("send", h->type);
	t->opens = h->type == LEAT_MSG_RESOLVE &&
		   ((const struct leat_msg_resolve *)t->msg)->op == LEAT_OP_OPEN;
	do
		rc = raw(SYS_sendto, t->conn, t->msg, h->size, MSG_NOSIGNAL);
	while (rc == -EINTR);
	LEAT_FAULT_MESSAGE("sent", h->type);
	return rc == (long)h->size ? 0 : gone(t, rc);
}

/* The same with a descriptor. 0 or -errno. */
static int send_with(struct leat_thread *t, int fd)
{
	const struct leat_msg *h = (const struct leat_msg *)t->msg;
	union leat_passing passing;
	struct iovec io = {.iov_base = t->msg, .iov_len = h->size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	long rc;

	leat_pass(&msg, &passing, &fd, 1);
	LEAT_FAULT_MESSAGE("send", h->type);
	do
		rc = raw(SYS_sendmsg, t->conn, &msg, MSG_NOSIGNAL);
	while (rc == -EINTR);
	LEAT_FAULT_MESSAGE("sent", h->type);
	return rc < 0 ? (int)rc : 0;
}

/* Receives one packet into t->msg, with `n_fds` descriptors, or none. Bytes or -errno. */
static long receive(struct leat_thread *t, int *fds, size_t n_fds)
{
	union leat_passing passing;
	struct iovec io = {.iov_base = t->msg, .iov_len = sizeof(t->msg)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = fds ? passing.space : NULL,
			     .msg_controllen = fds ? sizeof(passing.space) : 0};
	long n;

	do
		n = raw(SYS_recvmsg, t->conn, &msg, MSG_CMSG_CLOEXEC);
	while (n == -EINTR);
	if (n >= 0 && fds)
		leat_take_passed(&msg, fds, n_fds);
	return n;
}

static struct leat_thread *thread_of(struct leat_channel *c)
{
	return (struct leat_thread *)(void *)((char *)c - offsetof(struct leat_thread, channel));
}

static int send_on(struct leat_channel *c)
{
	return send_msg(thread_of(c));
}

static int roundtrip(struct leat_channel *c, enum leat_msg_type reply)
{
	struct leat_thread *t = thread_of(c);
	struct leat_spin spin = {0};
	int rc = send_msg(t);
	long n;

	if (rc)
		return rc;
	do
		n = raw(SYS_recvfrom, t->conn, t->msg, sizeof(t->msg), MSG_DONTWAIT);
	while (n == -EAGAIN && leat_spin(&spin));
	if (n == -EAGAIN || n == -EINTR)
		n = receive(t, NULL, 0);
	return leat_channel_is_reply(t->msg, n, reply) ? 0 : gone(t, n);
}

static int exchange(struct leat_channel *c, enum leat_msg_type reply, int fd, int *received)
{
	struct leat_thread *t = thread_of(c);
	int rc = send_with(t, fd);
	long n;

	if (rc)
		return rc;
	n = receive(t, received, 1);
	return leat_channel_is_reply(t->msg, n, reply) ? 0 : gone(t, n);
}

static int welcome(struct leat_thread *t)
{
	int fds[2] = {-1, -1};
	const char *why;
	long n = receive(t, fds, 2);

	if (!leat_channel_is_reply(t->msg, n, LEAT_MSG_WELCOME)) {
		if (n && n != -EPIPE && n != -ECONNRESET)
			return gone(t, n);
		/* Whoever hangs up on a greeting may be there for all others. */
		leat_client_drop(t, t->conn);
		t->conn = -1;
		return leat_lost(LEAT_LOST_BROKEN);
	}
	why = leat_channel_refusal(t->msg);
	if (why) {
		leat_client_drop(t, t->conn);
		t->conn = -1;
		leat_roll_call_stray();
		if (!leat_word_swap(&reported, 1))
			leat_log_line(why, NULL);
		return -EIO;
	}
	n = leat_client_take_server(t, fds);
	if (!n)
		return 0;
	leat_lost(leat_lost_cause(n)); /* on this connection, if there is no other way */
	leat_client_drop(t, t->conn);
	t->conn = -1;
	return -EIO;
}

/* Make the connection, and say who this is. */
static int greet(struct leat_thread *t)
{
	char program[17] = "";
	const struct leat_channel_greeting greeting = {.step = leat_session.step,
						       .workflow = leat_session.workflow,
						       .program = program,
						       .key = leat_session.key};
	int rc = open_socket(t);

	if (rc)
		return rc;
	raw(SYS_prctl, PR_GET_NAME, program);
	if (leat_channel_greet(t->msg, &greeting))
		return gone(t, 0);
	rc = send_msg(t);
	return rc ? rc : welcome(t);
}

static int connect_thread(struct leat_thread *t)
{
	int rc = !t->transient && leat_handed_take(t) ? 0 : greet(t);

	if (rc)
		return rc;
	t->pid = (uint32_t)raw(SYS_getpid);
	if (t->transient)
		transient_pid = t->pid;
	else
		leat_word_set(&greeted, t->pid);
	return 0;
}

/* A child made without our knowledge must not speak on its parent's connection;
 * a vfork child may, its parent sleeps. */
static bool is_inherited(const struct leat_thread *t)
{
	return t->pid != (uint32_t)raw(SYS_getpid) && !leat_in_vfork();
}

/* Who else is to forget what a fork child has of its parent. */
static void (*forget_more)(void) LEAT_FIRST;

void leat_client_init(void (*forked)(void))
{
	forget_more = forked;
}

/* Is it a descriptor that a child goes on using? */
static bool is_shared(int fd)
{
	const struct leat_server_info *w = leat_server_known();

	return leat_user_holder(fd) ||
	       (w && (fd == w->store_fd || fd == w->dir_fd || fd == w->shm_fd));
}

void leat_client_fork_child(void)
{
	struct leat_thread *t = leat_client_self();
	int stop = leat_fd_end();

	if (t)
		t->conn = -1;
	leat_handed_forget();
	leat_word_set(&greeted, 0);
	for (int fd = 0; fd < stop; fd++)
		if (leat_fd_hidden(fd) && !is_shared(fd))
			leat_fd_unhide(fd);
}

int leat_client_connect(struct leat_thread *t)
{
	int rc;

	if (t->conn >= 0 && t->checked)
		return 0;
	if (t->conn >= 0 && is_inherited(t)) {
		leat_client_fork_child();
		forget_more();
	}
	/* The daemon acts for whom it was told at the start. */
	if (t->conn >= 0 && !leat_in_vfork() && !leat_user_is_same(&t->user)) {
		leat_client_drop(t, t->conn);
		t->conn = -1;
	}
	rc = t->conn >= 0 ? 0 : connect_thread(t);
	t->checked = !rc;
	return rc;
}

static int connect_on(struct leat_channel *c)
{
	return leat_client_connect(thread_of(c));
}

struct leat_channel *leat_client_channel(struct leat_thread *t)
{
	t->channel = (struct leat_channel){.msg = t->msg,
					   .connect = connect_on,
					   .send = send_on,
					   .roundtrip = roundtrip,
					   .exchange = exchange};
	return &t->channel;
}

int leat_client_server(struct leat_thread *t, const struct leat_server_info **out)
{
	int rc = leat_server_known() ? 0 : leat_client_connect(t);

	if (!rc)
		*out = leat_server_known();
	return rc;
}

bool leat_client_alive(struct leat_thread *t)
{
	static const struct timespec at_once;
	const struct leat_server_info *w = leat_server_known();
	struct pollfd p;

	if (leat_client_connect(t))
		return false;
	p = (struct pollfd){.fd = t->conn, .events = POLLRDHUP};
	if (raw(SYS_ppoll, &p, 1, &at_once, NULL, 0) > 0 && p.revents)
		return gone(t, p.revents & POLLNVAL ? -EBADF : 0) == 0;
	return (w && leat_shm_alive(w->shm)) || gone(t, 0) == 0;
}

bool leat_client_is_known(uint32_t pid)
{
	return leat_word_get(&greeted) == pid || known_before == pid || transient_pid == pid;
}

void leat_client_note_known(uint32_t pid)
{
	known_before = pid;
}

/* Would the daemon take the end of this process for a death? */
static bool owes_farewell(uint32_t pid)
{
	return leat_word_get(&greeted) == pid || known_before == pid;
}

void leat_client_exiting(int status)
{
	struct leat_guard g;
	uint32_t pid;

	if (!leat_word_get(&greeted) && !known_before)
		return;
	pid = (uint32_t)raw(SYS_getpid);
	if (leat_handed_exiting(pid, status) || !owes_farewell(pid) || leat_guard_acquire(&g))
		return;
	leat_channel_ended(leat_client_channel(g.t), LEAT_MSG_EXITING, (int32_t)pid, status,
			   leat_session.step, "");
	leat_guard_release(&g);
}
