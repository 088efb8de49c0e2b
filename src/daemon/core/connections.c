#include "daemon/core/connections.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/passing.h"
#include "daemon/run/actions.h"
#include "daemon/core/events.h"
#include "daemon/files/files.h"
#include "daemon/run/steps.h"
#include "daemon/core/user.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long a client that is turned away may take to say hello, ms. */
#define REFUSE_MS 20

/* What a client may leave unread before it is taken for dead. */
#define MAX_OUTBOX_PACKETS 4096u

/* How long who asked for the end may take to read what became of all. */
#define REST_NS UINT64_C(10000000000)

static void on_ready(uv_poll_t *poll, int status, int events);

static void on_closed(uv_handle_t *handle)
{
	struct leat_conn *c = handle->data;
	struct leat_packet *p;

	while ((p = c->outbox)) {
		c->outbox = p->next;
		free(p);
	}
	leat_close(&c->fd);
	free(c->user);
	free(c);
}

void leat_conn_drop(struct leat_conn *c, const char *why)
{
	struct leat_daemon *d = c->d;
	bool owner = d->driver && c->control & LEAT_CONTROL_EVENTS && c->pid == d->driver;

	if (c->closing)
		return;
	c->closing = true;
	if (why)
		leat_warn("dropping the connection of process %d: %s", (int)c->pid, why);
	if (c->waiting)
		leat_events_cancel(d, c->id);
	if (c->pending)
		leat_live_confirm(c->pending);
	leat_conn_made(c);
	leat_acts_forget(c);
	if (c->proc)
		DL_DELETE2(c->proc->conns, c, proc_prev, proc_next);
	if (d->finishing == c)
		d->finishing = NULL;
	c->proc = NULL;
	DL_DELETE(d->conns, c);
	/* The other end learns of it now, not at the next turn of the loop. */
	shutdown(c->fd, SHUT_RDWR);
	uv_close((uv_handle_t *)&c->poll, on_closed);
	if (c->instance && !owner && !d->ending && !d->is_finishing)
		leat_step_abandoned(d, c->instance_step, c->pid);
	if (owner && !d->ending)
		leat_daemon_abort(d, d->options.serve ? "leat serve is gone" : "leat run is gone");
}

static int send_packet(int fd, const void *data, size_t size)
{
	while (send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static void watch(struct leat_conn *c)
{
	uv_poll_start(&c->poll, UV_READABLE | (c->outbox ? UV_WRITABLE : 0), on_ready);
}

static int keep_packet(struct leat_conn *c, const void *data, size_t size)
{
	struct leat_packet *p = malloc(sizeof(*p) + size), *other;
	unsigned n = 0;

	if (!p)
		return -ENOMEM;
	LL_COUNT(c->outbox, other, n);
	if (n >= MAX_OUTBOX_PACKETS) {
		free(p);
		return -ENOBUFS;
	}
	p->size = size;
	memcpy(p->data, data, size);
	LL_APPEND(c->outbox, p);
	watch(c);
	return 0;
}

void leat_conn_send(struct leat_conn *c, const void *buf)
{
	const struct leat_msg *h = buf;
	int rc = -EAGAIN;

	if (c->closing)
		return;
	if (!c->outbox)
		rc = send_packet(c->fd, buf, h->size);
	if (rc == -EAGAIN)
		rc = keep_packet(c, buf, h->size);
	if (rc && rc != -EPIPE && rc != -ECONNRESET)
		leat_conn_drop(c, strerror(-rc));
}

void leat_conn_send_fd(struct leat_conn *c, const void *buf, int fd)
{
	const struct leat_msg *h = buf;
	union leat_passing passing;
	struct iovec io = {.iov_base = (void *)(uintptr_t)buf, .iov_len = h->size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};

	leat_pass(&msg, &passing, &fd, 1);
	/* It waits for this reply, so there is room. */
	if (!c->closing && sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE)
		leat_conn_drop(c, strerror(errno));
}

static void flush(struct leat_conn *c)
{
	struct leat_packet *p;

	while ((p = c->outbox)) {
		if (send_packet(c->fd, p->data, p->size) == -EAGAIN)
			return;
		c->outbox = p->next;
		free(p);
	}
	watch(c);
}

/* A packet, and the descriptor that came with it: room for one, so that the kernel hands over no
 * more. As recv. */
static ssize_t take_packet(struct leat_conn *c, void *in, size_t size)
{
	_Alignas(struct cmsghdr) char control[CMSG_LEN(sizeof(c->passed))];
	struct iovec io = {.iov_base = in, .iov_len = size};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(c->fd, &msg, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);

	if (n >= 0)
		leat_take_passed(&msg, &c->passed, 1);
	return n;
}

/* Going to sleep and being woken takes longer than most messages. But whoever has given the
 * processor to somebody with work to do is not woken for the next message: then it is better to
 * sleep, for a while. */
#define KEEN_NS 50000u
#define BUSY_NS 10000u
#define PAUSE_NS 20000000u

static void look_again(uv_idle_t *idle)
{
	struct leat_daemon *d = idle->data;
	uint64_t before = leat_clock_ns(), after;

	sched_yield();
	after = leat_clock_ns();
	if (after - before > BUSY_NS)
		d->busy_until = after + PAUSE_NS;
	if (after < d->busy_until || after - d->keen_since > KEEN_NS)
		uv_idle_stop(idle);
}

static void stay_keen(struct leat_daemon *d)
{
	d->keen_since = leat_clock_ns();
	if (d->keen_since >= d->busy_until)
		uv_idle_start(&d->keen, look_again);
}

/* Takes one packet. 1 handled, 0 none there, -1 the connection is no more. */
static int receive(struct leat_conn *c)
{
	_Alignas(8) char in[LEAT_WIRE_MAX];
	ssize_t n;

	/* Dropped by what another of its process said; what it had sent is still there. */
	if (c->closing)
		return -1;
	do
		n = take_packet(c, in, sizeof(in));
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		leat_conn_drop(c, NULL);
		return -1;
	}
	stay_keen(c->d);
	if ((size_t)n > sizeof(in) || leat_dispatch(c, in, (size_t)n) < 0)
		leat_conn_drop(c, "it sent a malformed message");
	leat_close(&c->passed);
	return c->closing ? -1 : 1;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	struct leat_conn *c = poll->data;

	if (c->closing)
		return;
	if (status < 0)
		leat_conn_drop(c, NULL);
	else if (events & UV_READABLE && receive(c) < 0)
		return;
	else if (events & UV_WRITABLE)
		flush(c);
}

bool leat_conn_waits(const struct leat_conn *c)
{
	const struct leat_file *f = c->waiting ? leat_file_at(c->d, c->waiting_slot) : NULL;

	return c->waiting && !(f && leat_shm_flags(leat_file_shm(c->d, f)) & LEAT_SHM_COMMITTED);
}

void leat_proc_drain(struct leat_proc *p)
{
	struct leat_conn *c, *next;

	DL_FOREACH_SAFE2(p->conns, c, next, proc_next)
	while (receive(c) > 0)
		;
}

/* Does a message come next that is not answered? */
static bool is_told(const struct leat_conn *c)
{
	struct leat_msg h;
	ssize_t n;

	do
		n = recv(c->fd, &h, sizeof(h), MSG_PEEK | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(h) && h.type >= LEAT_MSG_OPENED && h.type <= LEAT_MSG_EXITING;
}

void leat_proc_hear(struct leat_proc *p)
{
	struct leat_conn *c, *next;

	DL_FOREACH_SAFE2(p->conns, c, next, proc_next)
	while (is_told(c) && receive(c) > 0)
		;
}

/* A client that says hello at once, as all do, is told why it is not taken; others are not waited
 * for. Once for people. */
static void refuse(struct leat_daemon *d, int fd, int error)
{
	struct leat_msg_welcome *m = leat_wire_begin(d->out, LEAT_MSG_WELCOME, sizeof(*m));
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct rlimit limit = {0};
	char why[160];

	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(why, sizeof(why),
		 "the daemon cannot take another connection: %s (ulimit -n is %llu)",
		 strerror(-error), (unsigned long long)limit.rlim_cur);
	m->error = error;
	if (!d->crowded)
		leat_problem_add(d, error, "%s", why);
	d->crowded = true;
	/* Whose process it is is not known; what it was to read or write may be missing. */
	leat_steps_spoil(d, "a process that may be its own could not reach the daemon");
	for (int i = 0; i < 3; i++)
		leat_wire_put(m, "");
	leat_wire_put(m, why);
	if (poll(&p, 1, REFUSE_MS) == 1)
		(void)!send_packet(fd, m, m->h.size);
}

/* Is it that there is no room for one more? */
static bool is_crowded(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* One descriptor is kept for telling those for whom there is none. False: nobody is there. */
static bool turn_away(struct leat_daemon *d)
{
	int fd, error = errno;
	bool turned;

	leat_close(&d->spare_fd);
	fd = accept4(d->session.socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	turned = fd >= 0;
	if (turned)
		refuse(d, fd, -error);
	else
		error = errno;
	leat_close(&fd);
	d->spare_fd = open_spare();
	errno = error;
	return turned;
}

/* Takes `fd` over. */
static void welcome(struct leat_daemon *d, int fd)
{
	struct leat_conn *c = NULL;
	struct leat_user *user = NULL;
	pid_t pid = 0;
	int rc = leat_user_of(fd, &pid, &user);

	if (rc == -ENOSYS)
		leat_problem_add(d, rc,
				 "process %d runs as another user, and this kernel cannot say what "
				 "that user may: it has to be Linux 5.8 or later",
				 (int)pid);
	if (rc) {
		leat_warn("process %d was refused: %s", (int)pid, strerror(-rc));
		goto fail;
	}
	if (user)
		leat_tree_distrust(d->tree);
	c = calloc(1, sizeof(*c));
	if (!c)
		goto fail;
	c->d = d;
	c->fd = fd;
	c->passed = -1;
	c->pid = pid;
	c->user = user;
	c->step = -1;
	c->id = ++d->last_conn;
	errno = 0;
	c->proc = leat_proc_get(d, pid);
	if (!c->proc && is_crowded(errno))
		refuse(d, fd, -errno);
	if (!c->proc || uv_poll_init(&d->loop, &c->poll, fd) < 0)
		goto fail;
	c->poll.data = c;
	DL_APPEND(d->conns, c);
	DL_APPEND2(c->proc->conns, c, proc_prev, proc_next);
	watch(c);
	return;
fail:
	free(user);
	free(c);
	close(fd);
}

static void on_connect(uv_poll_t *poll, int status, int events)
{
	struct leat_daemon *d = poll->data;
	int fd;

	(void)events;
	if (status < 0)
		return;
	do
		while ((fd = accept4(d->session.socket_fd, NULL, NULL,
				     SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
			welcome(d, fd);
	while (is_crowded(errno) && turn_away(d));
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	if (!d->crowded)
		leat_error("cannot take a connection: %s", strerror(errno));
	d->crowded = true;
	usleep(REFUSE_MS * 1000); /* it will be asked again at once */
}

int leat_clients_start(struct leat_daemon *d)
{
	int rc = uv_poll_init(&d->loop, &d->listener, d->session.socket_fd);

	if (!rc)
		rc = uv_idle_init(&d->loop, &d->keen);
	if (rc)
		return rc;
	d->spare_fd = open_spare();
	d->keen.data = d;
	d->listener.data = d;
	return uv_poll_start(&d->listener, UV_READABLE, on_connect);
}

/* The summary of many steps is more than a socket takes at once. */
static void send_rest(struct leat_conn *c)
{
	const uint64_t since = leat_clock_ns();

	while (c->outbox && leat_clock_ns() - since < REST_NS) {
		struct pollfd p = {.fd = c->fd, .events = POLLOUT};

		if (poll(&p, 1, 100) > 0 && p.revents & (POLLERR | POLLHUP))
			return;
		flush(c);
	}
}

void leat_clients_stop(struct leat_daemon *d)
{
	struct leat_conn *c, *next;

	d->ending = true;
	if (d->finishing)
		send_rest(d->finishing);
	DL_FOREACH_SAFE(d->conns, c, next)
	leat_conn_drop(c, NULL);
	leat_procs_free(d);
	leat_close(&d->spare_fd);
}
