/* Any messages in any order to a real daemon, a thread of this process: it neither crashes nor
 * leaks, and answers whoever speaks well. Its files are in a directory of its own; no name that it
 * is sent leads out of there.
 *
 *   .ci/fuzz 60 wire */
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/daemon.h"
#include "store/remove.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 4, ANSWER_MS = 10000, MAX_INPUTS = 400, WORDS = 24 };

static const char flow[] =
	"name: flow\n"
	"tasks:\n"
	"  - {func: A, exec: a, outports: [{filename: x, mode: no_update}, {dirname: d}]}\n"
	"  - {func: B, exec: b, inports: [{filename: x}, {dirname: d}], outports: [{filename: "
	"y}]}\n";

static const char *const names[] = {"",      "x",     "y", "d", "d/1", "d/2",
				    "d/e/f", "other", "A", "B", "z z"};
static const uint32_t values[] = {0,     1,     2,          3,          4,          8,
				  64,    0x80,  0x241,      0x1000,     0x10000,    0x410000,
				  65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff5};

static struct {
	char base[64], dir[80], runtime[80];
	struct leat_workflow *wf;
	struct leat_daemon_options options;
	pthread_t thread;
	bool runs;
	unsigned inputs;
	struct sockaddr_un address;
} world;

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned take(struct input *in, unsigned below)
{
	unsigned v = in->size ? *in->data : 0;

	if (in->size) {
		in->data++;
		in->size--;
	}
	return v % below;
}

/* ---- the daemon ---- */

static void *serve(void *arg)
{
	leat_daemon_main(&world.options, *(int *)arg, 0);
	return NULL;
}

static void remove_world(void)
{
	(void)!leat_remove_tree(AT_FDCWD, world.base);
}

static void make_world(void)
{
	struct leat_diags *diags;
	char real[PATH_MAX];

	strcpy(world.base, "/tmp/leat-fuzz-XXXXXX");
	if (!mkdtemp(world.base) || !realpath(world.base, real) || strlen(real) > 60)
		abort();
	snprintf(world.dir, sizeof(world.dir), "%.60s/work", real);
	snprintf(world.runtime, sizeof(world.runtime), "%.60s/runtime", real);
	if (mkdir(world.dir, 0755) < 0)
		abort();
	atexit(remove_world);
	world.wf = leat_lang_parse(flow, sizeof(flow) - 1, "fuzz", world.dir, &diags);
	leat_diags_free(diags);
	world.options = (struct leat_daemon_options){.wf = world.wf,
						     .dir = world.dir,
						     .runtime_dir = world.runtime,
						     .memory_bytes = 8 << 20,
						     .serve = true};
	world.address.sun_family = AF_UNIX;
	if (!world.wf ||
	    leat_wire_session_path(world.runtime, geteuid(), world.dir, world.address.sun_path,
				   sizeof(world.address.sun_path)))
		abort();
}

static void start(void)
{
	static int ready[2];
	int32_t packet[128];

	if (pipe2(ready, O_CLOEXEC) < 0 ||
	    pthread_create(&world.thread, NULL, serve, &ready[1]) != 0)
		abort();
	if (leat_read_all(ready[0], packet, sizeof(packet)) < 4 || packet[0] != 0)
		abort();
	close(ready[0]); /* the other end is the daemon's */
	world.runs = true;
	world.inputs = 0;
}

/* ---- clients ---- */

static int dial(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&world.address, sizeof(world.address)) < 0)
		leat_close(&fd);
	return fd;
}

/* Is there something to receive? libFuzzer sets an alarm, which ends a poll early. */
static bool has_input(int fd, int timeout_ms)
{
	uint64_t now = leat_clock_ns(), end = now + (uint64_t)timeout_ms * 1000000;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do {
		n = poll(&p, 1, (int)((end - now + 999999) / 1000000));
		now = leat_clock_ns();
	} while (n < 0 && errno == EINTR && now < end);
	return n == 1;
}

/* What has come, with its descriptors. The type of the last one; 0: nothing, -1: the end. */
static int drain(int fd, int timeout_ms)
{
	static _Alignas(8) char buf[LEAT_WIRE_MAX];
	const struct leat_msg *h = (const struct leat_msg *)(const void *)buf;
	int type = 0;

	while (has_input(fd, type > 0 ? 0 : timeout_ms)) {
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
		struct iovec io = {buf, sizeof(buf)};
		struct msghdr msg = {.msg_iov = &io,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

		if (n <= 0)
			return -1;
		for (size_t i = 0; c && c->cmsg_type == SCM_RIGHTS &&
				   CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len;
		     i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(got));
			close(got);
		}
		type = h->type;
	}
	return type;
}

static void put_hello(void *buf, const char *step, uint32_t control)
{
	struct leat_msg_hello *m = leat_wire_begin(buf, LEAT_MSG_HELLO, sizeof(*m));

	m->control = control;
	leat_wire_put(buf, step);
	leat_wire_put(buf, "");
	leat_wire_put(buf, "fuzz");
}

/* A message of any type with values that may mean something. */
static void put_message(struct input *in, void *buf)
{
	unsigned type = take(in, LEAT_MSG_END_OF_REQUESTS), n = take(in, 5);
	size_t fixed = leat_wire_fixed_size((enum leat_msg_type)type);
	uint32_t words[WORDS] = {0};

	leat_wire_begin(buf, (enum leat_msg_type)type, fixed ? fixed : sizeof(struct leat_msg));
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = values[take(in, sizeof(values) / sizeof(*values))];
	if (fixed > sizeof(struct leat_msg))
		memcpy((char *)buf + sizeof(struct leat_msg), words,
		       fixed - sizeof(struct leat_msg));
	for (unsigned i = 0; i < n; i++)
		leat_wire_put(buf, names[take(in, sizeof(names) / sizeof(*names))]);
}

/* Whatever: bytes without a slash or a dot, so that no path is in them. */
static void put_bytes(struct input *in, void *buf)
{
	unsigned n = take(in, 64);
	struct leat_msg *h = leat_wire_begin(buf, (enum leat_msg_type)take(in, 80), sizeof(*h));

	for (unsigned i = 0; i < n; i++) {
		char c = (char)take(in, 256);

		leat_wire_put_raw(buf, c == '/' || c == '.' ? "x" : &c, 1);
	}
}

static void say(int fd, const void *buf, size_t size, bool with_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {(void *)(uintptr_t)buf, size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	int passed = with_fd ? open(world.dir, O_RDONLY | O_CLOEXEC) : -1;
	struct cmsghdr *c;

	if (passed >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(passed));
		memcpy(CMSG_DATA(c), &passed, sizeof(passed));
	}
	(void)!sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	leat_close(&passed);
}

static void step(struct input *in, int fds[CLIENTS])
{
	static _Alignas(8) char buf[LEAT_WIRE_MAX];
	const struct leat_msg *h = (const struct leat_msg *)(const void *)buf;
	unsigned who = take(in, CLIENTS), what = take(in, 16);

	if (fds[who] < 0) {
		fds[who] = dial();
		put_hello(buf, what & 1 ? "A" : "B", what < 4 ? 1 : 0);
		if (fds[who] >= 0 && what < 15)
			say(fds[who], buf, h->size, false);
		return;
	}
	if (what == 0) {
		leat_close(&fds[who]);
		return;
	}
	if (what == 1)
		put_bytes(in, buf);
	else
		put_message(in, buf);
	say(fds[who], buf, what == 2 ? h->size / 2 : h->size, what == 3);
	if (what & 1 && drain(fds[who], 0) < 0)
		leat_close(&fds[who]);
}

/* ---- after an input ---- */

/* Does the daemon still answer? False: it was told to end, and does. */
static bool answers(void)
{
	static _Alignas(8) char buf[LEAT_WIRE_MAX];
	const struct leat_msg *h = (const struct leat_msg *)(const void *)buf;
	int fd = dial(), type;

	if (fd < 0)
		return false;
	put_hello(buf, "", 1);
	say(fd, buf, h->size, false);
	type = drain(fd, ANSWER_MS);
	leat_close(&fd);
	if (type == 0)
		abort();
	return type == LEAT_MSG_WELCOME;
}

static void stop(void)
{
	static _Alignas(8) char buf[LEAT_WIRE_MAX];
	const struct leat_msg *h = (const struct leat_msg *)(const void *)buf;
	int fd = dial();

	put_hello(buf, "", 1);
	if (fd >= 0)
		say(fd, buf, h->size, false);
	leat_wire_begin(buf, LEAT_MSG_ABORT, sizeof(struct leat_msg_step));
	leat_wire_put(buf, "");
	leat_wire_put(buf, "");
	if (fd >= 0)
		say(fd, buf, h->size, false);
	pthread_join(world.thread, NULL);
	leat_close(&fd);
	world.runs = false;
	(void)!leat_remove_tree(AT_FDCWD, world.dir);
	if (mkdir(world.dir, 0755) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	int fds[CLIENTS];

	if (!*world.base)
		make_world();
	if (!world.runs)
		start();
	memset(fds, -1, sizeof(fds));
	while (in.size)
		step(&in, fds);
	for (int i = 0; i < CLIENTS; i++)
		leat_close(&fds[i]);
	if (!answers() || ++world.inputs >= MAX_INPUTS)
		stop();
	return 0;
}
