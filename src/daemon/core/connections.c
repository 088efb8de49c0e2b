#include "daemon/core/connections.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/passing.h"
#include "daemon/core/dispatch.h"
#include "daemon/core/events.h"
#include "daemon/core/observer.h"
#include "daemon/core/processes.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

	if (c->closing)
		return;
	c->closing = true;
	if (why)
		leat_warn("dropping the connection of process %d: %s", (int)c->pid, why);
	if (c->waiting)
		leat_events_cancel(d, c->id);
	d->observer->dropping(c);
	if (c->proc)
		DL_DELETE2(c->proc->conns, c, proc_prev, proc_next);
	if (d->finishing == c)
		d->finishing = NULL;
	c->proc = NULL;
	DL_DELETE(d->conns, c);
	/* The other end learns of it now, not at the next turn of the loop. */
	shutdown(c->fd, SHUT_RDWR);
	uv_close((uv_handle_t *)&c->poll, on_closed);
	d->observer->dropped(c);
}

int leat_packet_send(int fd, const void *data, size_t size)
{
	while (send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void leat_conn_start(struct leat_conn *c)
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
	leat_conn_start(c);
	return 0;
}

void leat_conn_send(struct leat_conn *c, const void *buf)
{
	const struct leat_msg *h = buf;
	int rc = -EAGAIN;

	if (c->closing)
		return;
	if (!c->outbox)
		rc = leat_packet_send(c->fd, buf, h->size);
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
	/* It waits for this reply, so there is space. */
	if (!c->closing && sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE)
		leat_conn_drop(c, strerror(errno));
}

static void flush(struct leat_conn *c)
{
	struct leat_packet *p;

	while ((p = c->outbox)) {
		if (leat_packet_send(c->fd, p->data, p->size) == -EAGAIN)
			return;
		c->outbox = p->next;
		free(p);
	}
	leat_conn_start(c);
}

/* The summary of many steps is more than a socket takes at once. */
void leat_conn_send_rest(struct leat_conn *c)
{
	const uint64_t since = leat_clock_ns();

	while (c->outbox && leat_clock_ns() - since < REST_NS) {
		struct pollfd p = {.fd = c->fd, .events = POLLOUT};

		if (poll(&p, 1, 100) > 0 && p.revents & (POLLERR | POLLHUP))
			return;
		flush(c);
	}
}

/* A packet, and the descriptor that came with it: space for one, so that the kernel hands over no
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
	return c->waiting &&
	       !(leat_shm_flags(&c->d->shm->files[c->waiting_slot]) & LEAT_SHM_COMMITTED);
}

void leat_proc_drain(struct leat_proc *p)
{
	struct leat_conn *c, *next;

	DL_FOREACH_SAFE2(p->conns, c, next, proc_next)
	while (receive(c) > 0)
		;
}

/* Is the next message one that wants no answer? */
static bool has_report(const struct leat_conn *c)
{
	struct leat_msg h;
	ssize_t n;

	do
		n = recv(c->fd, &h, sizeof(h), MSG_PEEK | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(h) && h.type >= LEAT_MSG_OPENED && h.type <= LEAT_MSG_EXITING;
}

void leat_proc_read_reports(struct leat_proc *p)
{
	struct leat_conn *c, *next;

	DL_FOREACH_SAFE2(p->conns, c, next, proc_next)
	while (has_report(c) && receive(c) > 0)
		;
}
