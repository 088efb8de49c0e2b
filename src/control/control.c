#include "control/control.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "wire/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO_MS = 30000 };

struct leat_control {
	int fd;
	int segment_fd; /* -1 once taken */
	uint64_t store_dev;
	char *text; /* of TEXT messages, put together; owned */
	leat_control_event *event;
	void *event_ctx;
	leat_control_act *act;
	void *act_ctx;
	char why[512]; /* of the last ANSWER */
	char buf[LEAT_WIRE_MAX];
};

/* Did a call on the socket fail for now only? Waits until it may be repeated: event
 * loops that watch the socket make it non-blocking. */
static bool try_again(const struct leat_control *c, ssize_t n, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};

	/* The daemon has ended before it read all that we said. It is told once; what it said
	 * itself comes behind it. */
	if (n < 0 && errno == ECONNRESET && events == POLLIN)
		return true;
	if (n >= 0 || (errno != EINTR && errno != EAGAIN))
		return false;
	return errno == EINTR || poll(&p, 1, -1) >= 0 || errno == EINTR;
}

static int send_message(struct leat_control *c)
{
	const struct leat_msg *h = (const struct leat_msg *)(const void *)c->buf;
	ssize_t n;

	LEAT_FAULT_MESSAGE("send", h->type);
	do
		n = send(c->fd, c->buf, h->size, MSG_NOSIGNAL);
	while (try_again(c, n, POLLOUT));
	LEAT_FAULT_MESSAGE("sent", h->type);
	return n < 0 ? -errno : 0;
}

static unsigned message_type(const struct leat_control *c)
{
	return ((const struct leat_msg *)(const void *)c->buf)->type;
}

/* Receive one packet and up to two descriptors. 0 or -errno (-EPIPE: the end). */
static int receive_message(struct leat_control *c, int fds[2])
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = {c->buf, sizeof(c->buf)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	struct cmsghdr *cm;
	ssize_t n;

	do
		n = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC);
	while (try_again(c, n, POLLIN));
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	cm = CMSG_FIRSTHDR(&m);
	if (cm && cm->cmsg_type == SCM_RIGHTS) {
		size_t got = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int received[2] = {-1, -1};

		memcpy(received, CMSG_DATA(cm), (got < 2 ? got : 2) * sizeof(int));
		for (int i = 0; i < 2; i++) {
			if (fds)
				fds[i] = received[i];
			else
				leat_close(&received[i]);
		}
	}
	LEAT_FAULT_MESSAGE("answered", message_type(c));
	return leat_wire_check(c->buf, (size_t)n, sizeof(struct leat_msg));
}

static void deliver_act(struct leat_control *c)
{
	const struct leat_msg_act *m = (void *)c->buf;

	if (c->act && leat_wire_check(c->buf, m->h.size, sizeof(*m)) == 0)
		c->act(c->act_ctx, m);
}

/* What comes unasked. */
static void deliver(struct leat_control *c)
{
	const struct leat_msg_text *m = (void *)c->buf;
	const char *text;

	if (message_type(c) == LEAT_MSG_ACT)
		deliver_act(c);
	if (message_type(c) != LEAT_MSG_EVENT)
		return;
	if (!c->event || leat_wire_check(c->buf, m->h.size, sizeof(*m)) < 0)
		return;
	text = leat_wire_string(c->buf, sizeof(*m), 0);
	c->event(c->event_ctx, m->error, text ? text : "");
}

/* Wait for a reply of that type. */
static int await_reply(struct leat_control *c, enum leat_msg_type reply, int fds[2])
{
	int result = 0;

	while (result == 0) {
		result = receive_message(c, fds);
		if (result == 0 && message_type(c) == (unsigned)reply)
			return leat_wire_check(c->buf, ((struct leat_msg *)(void *)c->buf)->size,
					       leat_wire_fixed_size(reply));
		if (result == 0)
			deliver(c);
	}
	return result;
}

/* Send what is in buf, and wait for a reply of that type. */
static int round_trip(struct leat_control *c, enum leat_msg_type reply, int fds[2])
{
	int result = send_message(c);

	return result ? result : await_reply(c, reply, fds);
}

/* The same, from a daemon of which it is not known whether it is at work: one that was stopped is
 * connected to all the same. */
static int first_round_trip(struct leat_control *c, enum leat_msg_type reply, int fds[2])
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	int result = send_message(c), n;

	do
		n = result ? 1 : poll(&p, 1, HELLO_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	return result ? result : await_reply(c, reply, fds);
}

/* The same for requests whose reply is an ANSWER: its error. */
static int send_request(struct leat_control *c)
{
	int result = round_trip(c, LEAT_MSG_ANSWER, NULL);
	const char *why;

	c->why[0] = 0;
	if (result < 0)
		return result;
	why = leat_wire_string(c->buf, sizeof(struct leat_msg_answer), 0);
	snprintf(c->why, sizeof(c->why), "%s", why ? why : "");
	return ((const struct leat_msg_answer *)(const void *)c->buf)->error;
}

static int connect_to(const char *runtime_dir, const char *dir, int *out)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int result = leat_wire_session_path(runtime_dir, getuid(), dir, address.sun_path,
					    sizeof(address.sun_path));
	int fd = -1;

	if (result < 0)
		return result;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		result = errno == ECONNREFUSED ? -ENOENT : -errno;
		leat_close(&fd);
		return result;
	}
	if (!leat_wire_peer_is_trusted(fd)) {
		leat_error(
			"%s is answered by a process of another user, and not to be trusted: set "
			"LEAT_RUNTIME_DIR to a directory nobody else can change",
			address.sun_path);
		leat_close(&fd);
		return -EPERM;
	}
	*out = fd;
	return 0;
}

static int report_hello(struct leat_control *c, const char *workflow, unsigned kind)
{
	struct leat_msg_hello *hello =
		leat_wire_begin(c->buf, LEAT_MSG_HELLO, sizeof(struct leat_msg_hello));
	const struct leat_msg_welcome *welcome = (void *)c->buf;
	int fds[2] = {-1, -1};
	int result;

	hello->control = kind;
	result = leat_wire_put(c->buf, "");
	if (result == 0)
		result = leat_wire_put(c->buf, workflow);
	if (result == 0)
		result = leat_wire_put(c->buf, "leat");
	if (result == 0)
		result = first_round_trip(c, LEAT_MSG_WELCOME, fds);
	leat_close(&fds[0]);
	if (result == 0 && welcome->error) {
		const char *why = leat_wire_string(c->buf, sizeof(*welcome), 3);

		result = welcome->error;
		leat_error("%s", why && *why ? why : strerror(-result));
	}
	if (result < 0) {
		leat_close(&fds[1]);
		return result;
	}
	c->segment_fd = fds[1];
	c->store_dev = welcome->store_dev;
	return 0;
}

int leat_control_open(const char *runtime_dir, const char *dir, const char *workflow, unsigned kind,
		      struct leat_control **control)
{
	struct leat_control *c = calloc(1, sizeof(*c));
	int result;

	if (!c)
		return -ENOMEM;
	LEAT_FAULT_SIDE(environ, "leat");
	c->fd = -1;
	c->segment_fd = -1;
	result = connect_to(runtime_dir, dir, &c->fd);
	if (result == 0)
		result = report_hello(c, workflow, kind);
	if (result < 0) {
		leat_control_close(c);
		return result;
	}
	*control = c;
	return 0;
}

void leat_control_on_event(struct leat_control *c, leat_control_event *fn, void *ctx)
{
	c->event = fn;
	c->event_ctx = ctx;
}

void leat_control_on_act(struct leat_control *c, leat_control_act *fn, void *ctx)
{
	c->act = fn;
	c->act_ctx = ctx;
}

void leat_control_close(struct leat_control *c)
{
	int saved = errno;

	if (!c)
		return;
	leat_close(&c->fd);
	leat_close(&c->segment_fd);
	free(c->text);
	free(c);
	errno = saved;
}

int leat_control_fd(const struct leat_control *c)
{
	return c->fd;
}

int leat_control_take_segment(struct leat_control *c)
{
	int fd = c->segment_fd;

	c->segment_fd = -1;
	return fd;
}

uint64_t leat_control_store_dev(const struct leat_control *c)
{
	return c->store_dev;
}

static int send_step_request(struct leat_control *c, enum leat_msg_type type, const char *step,
			     pid_t pid, int status, const char *text, const char *key)
{
	struct leat_msg_step *m = leat_wire_begin(c->buf, type, sizeof(*m));
	int result;

	m->pid = pid;
	m->status = status;
	result = leat_wire_put(c->buf, step);
	if (result == 0)
		result = leat_wire_put(c->buf, text);
	if (result == 0)
		result = leat_wire_put(c->buf, key);
	return result < 0 ? result : send_request(c);
}

bool leat_control_is_lost(int result)
{
	return result == -EPIPE || result == -ECONNRESET || result == -EPROTO;
}

int leat_control_step_start(struct leat_control *c, const char *step, pid_t pid,
			    const char *program, const char *key, bool followed)
{
	return send_step_request(c, LEAT_MSG_STEP_START, step, pid, followed, program, key);
}

int leat_control_reaped(struct leat_control *c, pid_t pid, int status)
{
	struct leat_msg_step *m = leat_wire_begin(c->buf, LEAT_MSG_REAPED, sizeof(*m));
	int result;

	m->pid = pid;
	m->status = status;
	result = leat_wire_put(c->buf, "");
	return result < 0 ? result : send_message(c);
}

int leat_control_step_end(struct leat_control *c, const char *step, pid_t pid, int status)
{
	return send_step_request(c, LEAT_MSG_STEP_END, step, pid, status, "", "");
}

int leat_control_step_done(struct leat_control *c, const char *step)
{
	return send_step_request(c, LEAT_MSG_STEP_DONE, step, 0, 0, "", "");
}

int leat_control_step_fail(struct leat_control *c, const char *step, const char *why)
{
	return send_step_request(c, LEAT_MSG_STEP_END, step, 0, 1 << 8, why, "");
}

const char *leat_control_why(const struct leat_control *c)
{
	return c->why;
}

int leat_control_abort(struct leat_control *c)
{
	return send_step_request(c, LEAT_MSG_ABORT, "", 0, 0, "", "");
}

int leat_control_ask_launch(struct leat_control *c, int step)
{
	struct leat_msg_ask_launch *m = leat_wire_begin(c->buf, LEAT_MSG_ASK_LAUNCH, sizeof(*m));

	m->step = (uint32_t)step;
	return send_request(c);
}

int leat_control_ask_relaunch(struct leat_control *c, int step, bool ended)
{
	struct leat_msg_ask_relaunch *m =
		leat_wire_begin(c->buf, LEAT_MSG_ASK_RELAUNCH, sizeof(*m));

	m->step = (uint32_t)step;
	m->ended = ended;
	return send_request(c);
}

int leat_control_acted(struct leat_control *c, const struct leat_msg_acted *m)
{
	memcpy(c->buf, m, m->h.size);
	return send_request(c);
}

int leat_control_ask_settled(struct leat_control *c, int step)
{
	struct leat_msg_ask_settled *m = leat_wire_begin(c->buf, LEAT_MSG_ASK_SETTLED, sizeof(*m));

	m->step = (uint32_t)step;
	return send_request(c);
}

int leat_control_stopping(struct leat_control *c)
{
	leat_wire_begin(c->buf, LEAT_MSG_STOPPING, sizeof(struct leat_msg));
	return send_request(c);
}

/* Add the text of the TEXT message in buf to what came before it. 1: complete. */
static int take_text(struct leat_control *c)
{
	const struct leat_msg_text *m = (void *)c->buf;
	const char *part = leat_wire_string(c->buf, sizeof(*m), 0);
	size_t old = c->text ? strlen(c->text) : 0;
	size_t size = part ? strlen(part) + 1 : 1;
	char *grown = realloc(c->text, old + size);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + old, part ? part : "", size);
	c->text = grown;
	return m->more ? 0 : 1;
}

static char *give_text(struct leat_control *c)
{
	char *text = c->text;

	c->text = NULL;
	return text;
}

int leat_control_ask_status(struct leat_control *c)
{
	leat_wire_begin(c->buf, LEAT_MSG_STATUS, sizeof(struct leat_msg_text));
	return send_message(c);
}

int leat_control_status(struct leat_control *c, char **text)
{
	int result = leat_control_ask_status(c);

	if (result == 0)
		result = await_reply(c, LEAT_MSG_TEXT, NULL);
	while (result == 0 && (result = take_text(c)) == 0)
		result = receive_message(c, NULL);
	if (result < 0)
		return result;
	*text = give_text(c);
	return 0;
}

int leat_control_finish(struct leat_control *c, bool timeline)
{
	struct leat_msg_text *m = leat_wire_begin(c->buf, LEAT_MSG_FINISH, sizeof(*m));

	m->more = timeline;
	return send_message(c);
}

/* Is there nothing to receive? What an event loop was woken for may have come in the meantime,
 * before the reply to a request of another callback. */
static bool is_quiet(const struct leat_control *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 0;
}

int leat_control_receive(struct leat_control *c, int *error, char **text)
{
	const struct leat_msg_text *m = (void *)c->buf;
	int result = is_quiet(c) ? -EAGAIN : receive_message(c, NULL);

	if (result < 0)
		return result == -EAGAIN ? 0 : result;
	deliver(c);
	if (message_type(c) != LEAT_MSG_TEXT)
		return 0;
	result = leat_wire_check(c->buf, m->h.size, sizeof(*m));
	if (result == 0)
		result = take_text(c);
	if (result != 1)
		return result;
	*error = m->error;
	*text = give_text(c);
	return 1;
}
