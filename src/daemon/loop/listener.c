/* Who connects, and who has to be turned away. */
#include "base/fd.h"
#include "base/log.h"
#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/core/user.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long a client that is turned away may take to say hello, ms. */
#define REFUSE_MS 20

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
	if (!d->handles->crowded)
		leat_problem_add(d, error, "%s", why);
	d->handles->crowded = true;
	/* Whose process it is is not known; what it was to read or write may be missing. */
	leat_steps_spoil(d, "a process that may be its own could not reach the daemon");
	for (int i = 0; i < 3; i++)
		leat_wire_put(m, "");
	leat_wire_put(m, why);
	if (poll(&p, 1, REFUSE_MS) == 1)
		(void)!leat_packet_send(fd, m, m->h.size);
}

/* Is it that there is no space for one more? */
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

	leat_close(&d->handles->spare_fd);
	fd = accept4(d->session.socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	turned = fd >= 0;
	if (turned)
		refuse(d, fd, -error);
	else
		error = errno;
	leat_close(&fd);
	d->handles->spare_fd = open_spare();
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
	leat_conn_start(c);
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
	if (!d->handles->crowded)
		leat_error("cannot take a connection: %s", strerror(errno));
	d->handles->crowded = true;
	usleep(REFUSE_MS * 1000); /* it will be asked again at once */
}

int leat_listener_start(struct leat_daemon *d)
{
	int rc = uv_poll_init(&d->loop, &d->handles->listener, d->session.socket_fd);

	if (!rc)
		rc = uv_idle_init(&d->loop, &d->keen);
	if (rc)
		return rc;
	d->handles->spare_fd = open_spare();
	d->keen.data = d;
	d->handles->listener.data = d;
	return uv_poll_start(&d->handles->listener, UV_READABLE, on_connect);
}

void leat_listener_stop(struct leat_daemon *d)
{
	struct leat_conn *c, *next;

	if (d->finishing)
		leat_conn_send_rest(d->finishing);
	DL_FOREACH_SAFE(d->conns, c, next)
	leat_conn_drop(c, NULL);
	leat_procs_free(d);
	leat_close(&d->handles->spare_fd);
}
