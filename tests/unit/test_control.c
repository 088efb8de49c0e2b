/* The driver's conversation with the daemon, here with one that says what the test wants. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "control/control.h"
#include "wire/wire.h"

static char runtime_dir[] = "/tmp/leat-test-control-XXXXXX";
static char socket_path[108];

static void send_text(int fd, enum leat_msg_type type, const char *text)
{
	static char buf[LEAT_WIRE_MAX];
	struct leat_msg_text *m = leat_wire_begin(buf, type, sizeof(*m));

	if (leat_wire_put(buf, text) || send(fd, buf, m->h.size, 0) < 0)
		_exit(1);
}

static void answer(int fd, size_t fixed, enum leat_msg_type type)
{
	static char buf[LEAT_WIRE_MAX];
	struct leat_msg *m;

	if (recv(fd, buf, sizeof(buf), 0) <= 0)
		_exit(1);
	m = leat_wire_begin(buf, type, fixed);
	for (int i = 0; i < 4; i++)
		if (leat_wire_put(buf, ""))
			_exit(1);
	if (send(fd, buf, m->size, 0) < 0)
		_exit(1);
}

/* A daemon that has something to say before it answers a request, and then nothing more. */
static void play(int listener)
{
	int fd = accept(listener, NULL, NULL);
	char byte;

	if (fd < 0)
		_exit(1);
	answer(fd, sizeof(struct leat_msg_welcome), LEAT_MSG_WELCOME);
	send_text(fd, LEAT_MSG_EVENT, "a warning");
	answer(fd, sizeof(struct leat_msg_answer), LEAT_MSG_ANSWER);
	_exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 1); /* until the test hangs up */
}

static pid_t start(struct leat_control **control)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char *slash;
	pid_t pid;

	assert_non_null(mkdtemp(runtime_dir));
	assert_int_equal(leat_wire_session_path(runtime_dir, getuid(), "/", socket_path,
						sizeof(socket_path)),
			 0);
	slash = strrchr(socket_path, '/');
	*slash = '\0';
	assert_true(strcmp(socket_path, runtime_dir) == 0 || mkdir(socket_path, 0700) == 0);
	*slash = '/';
	memcpy(address.sun_path, socket_path, sizeof(socket_path));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		play(listener);
	close(listener);
	assert_int_equal(leat_control_open(runtime_dir, "/", "", 0, control), 0);
	return pid;
}

static void note(void *ctx, int error, const char *text)
{
	assert_int_equal(error, 0);
	snprintf(ctx, 32, "%s", text);
}

/* An event loop is woken for a message that the request of another callback takes with its reply:
 * then there is nothing to wait for. */
static void test_what_another_has_taken(void **state)
{
	struct leat_control *control;
	pid_t pid = start(&control);
	char told[32] = "", *text = NULL, *slash;
	int error = 0, status;

	(void)state;
	leat_control_on_event(control, note, told);
	assert_int_equal(leat_control_ask_settled(control, 0), 0);
	assert_string_equal(told, "a warning");
	alarm(20);
	assert_int_equal(leat_control_receive(control, &error, &text), 0);
	alarm(0);
	assert_null(text);
	leat_control_close(control);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(socket_path);
	slash = strrchr(socket_path, '/');
	*slash = '\0';
	rmdir(socket_path);
	rmdir(runtime_dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_another_has_taken),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
