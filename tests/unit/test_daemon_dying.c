/* A step ends while the kernel still takes down another of its processes: what that one wrote is of
 * the step, and not of a process that it has left behind. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_ANSWER_MS = 150 };

static int setup(void **state)
{
	world_setup(state, world_flow(), false);
	return 0;
}

/* ---- a process that dies as slowly as the test wants ---- */

/* A process of step A that has written some of `mid`, which it has open. */
static pid_t start_writer(struct world *w)
{
	int fds[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		struct peer *p = calloc(1, sizeof(*p));

		peer_meet(w, p, "A");
		write_mid(w, p);
		if (write(fds[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return child;
}

/* It is killed, and held before it gives up what it has. False: it may not be held here. */
static bool kill_and_hold(pid_t child)
{
	bool held = ptrace(PTRACE_SEIZE, child, NULL, (void *)PTRACE_O_TRACEEXIT) == 0;
	int status;

	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (held)
		assert_true(WIFSTOPPED(status));
	return held;
}

/* The same of a new writer, if it may be held here. */
static pid_t start_dying(struct world *w)
{
	pid_t child = start_writer(w);

	if (!kill_and_hold(child))
		skip();
	return child;
}

static void let_go(pid_t child)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

/* ---- the end of the step ---- */

static void say_end(struct peer *p, const char *step)
{
	struct leat_msg_step *m = leat_wire_begin(p->buf, LEAT_MSG_STEP_END, sizeof(*m));

	leat_wire_put(m, step);
	leat_wire_put(m, "");
	peer_say(p);
}

static bool is_answered(const struct peer *p)
{
	struct pollfd fd = {.fd = p->fd, .events = POLLIN};

	return poll(&fd, 1, NO_ANSWER_MS) == 1;
}

/* As `leat exec`, which says that an instance of A has ended, and gets no answer yet. */
static struct peer *end_unanswered(struct world *w)
{
	struct peer *exec = calloc(1, sizeof(*exec));

	peer_dial(w, exec);
	assert_int_equal(peer_hello(exec, "", "", LEAT_CONTROL), 0);
	say_end(exec, "A");
	assert_false(is_answered(exec));
	return exec;
}

static int take_answer(struct peer *p)
{
	return ((struct leat_msg_answer *)peer_receive(p, LEAT_MSG_ANSWER,
						       sizeof(struct leat_msg_answer)))
		->error;
}

static void begin(struct world *w)
{
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
}

/* What an open of `path` by step B comes to once it need not wait. */
static int open_by_b(struct world *w, const char *path, const char *text)
{
	struct peer *b = calloc(1, sizeof(*b));
	char found[64] = "";
	int rc = -EAGAIN;
	struct file f;

	peer_meet(w, b, "B");
	for (int i = 0; i < 2000 && rc == -EAGAIN; i++) {
		rc = peer_try_open(w, b, path, O_RDONLY, &f);
		usleep(1000);
	}
	if (!rc) {
		assert_int_equal(read(f.fd, found, sizeof(found) - 1), (int)strlen(text));
		assert_string_equal(found, text);
		close(f.fd);
	}
	peer_free(b);
	return rc;
}

/* ---- tests ---- */

static void test_waited_for(void **state)
{
	struct world *w = *state;
	pid_t child;

	begin(w);
	child = start_dying(w);
	say_end(&w->control, "A");
	assert_false(is_answered(&w->control));
	let_go(child);
	assert_int_equal(take_answer(&w->control), 0);
	assert_int_equal(open_by_b(w, "mid", "partial"), 0);
	assert_int_equal(open_by_b(w, "late", ""), -ENOENT);
}

/* One in a call that does not return. */
static void test_for_some_time(void **state)
{
	struct world *w = *state;
	pid_t child;

	begin(w);
	child = start_dying(w);
	say_end(&w->control, "A");
	assert_int_equal(take_answer(&w->control), 0);
	let_go(child);
	assert_int_equal(open_by_b(w, "mid", ""), -EIO);
}

static void test_alive(void **state)
{
	struct world *w = *state;
	pid_t child;

	begin(w);
	child = start_writer(w);
	assert_int_equal(world_step(w, LEAT_MSG_STEP_END, "A", 0), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(open_by_b(w, "mid", ""), -EIO);
}

/* It has nothing open that others wait for. */
static void test_has_closed(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	int fds[2];
	pid_t child;
	bool held;

	begin(w);
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		peer_meet(w, a, "A");
		peer_make(w, a, "mid", "whole");
		if (write(fds[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(fds[0], &(char){0}, 1), 1);
	close(fds[0]);
	close(fds[1]);
	held = kill_and_hold(child);
	assert_int_equal(world_step(w, LEAT_MSG_STEP_END, "A", 0), 0);
	if (held)
		let_go(child);
	assert_int_equal(open_by_b(w, "mid", "whole"), 0);
	free(a);
}

/* As `leat exec`, which is killed while it waits for the answer. */
static void test_nobody_waits(void **state)
{
	struct world *w = *state;
	struct peer *exec;
	pid_t child;

	begin(w);
	child = start_dying(w);
	exec = end_unanswered(w);
	peer_free(exec);
	let_go(child);
	assert_int_equal(open_by_b(w, "mid", "partial"), 0);
	assert_int_equal(open_by_b(w, "late", ""), -ENOENT);
}

/* Two instances end at the same time. */
static void test_instances(void **state)
{
	struct world *w = *state;
	struct peer *exec;
	pid_t child;

	begin(w);
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	child = start_dying(w);
	exec = end_unanswered(w);
	say_end(&w->control, "A");
	assert_false(is_answered(&w->control));
	assert_false(is_answered(exec));
	let_go(child);
	assert_int_equal(take_answer(exec), 0);
	assert_int_equal(take_answer(&w->control), 0);
	peer_free(exec);
	assert_int_equal(open_by_b(w, "mid", "partial"), 0);
	assert_int_equal(open_by_b(w, "late", ""), -ENOENT);
}

/* The run is given up meanwhile: the end is answered. */
static void test_abort(void **state)
{
	struct world *w = *state;
	struct peer *exec;
	pid_t child;
	int status;

	begin(w);
	child = start_dying(w);
	exec = end_unanswered(w);
	assert_int_equal(world_step(w, LEAT_MSG_ABORT, "", 0), 0);
	assert_int_equal(take_answer(exec), 0);
	peer_free(exec);
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_int_equal(status, 0);
	w->pid = 0;
	let_go(child);
}

/* The run's end waits for it. */
static void test_finish(void **state)
{
	struct world *w = *state;
	struct peer *exec;
	pid_t child;

	begin(w);
	child = start_dying(w);
	exec = end_unanswered(w);
	assert_int_equal(world_step(w, LEAT_MSG_STEP_END, "B", 0), 0);
	leat_wire_begin(w->control.buf, LEAT_MSG_FINISH, sizeof(struct leat_msg_text));
	peer_say(&w->control);
	assert_false(is_answered(&w->control));
	let_go(child);
	assert_int_equal(take_answer(exec), 0);
	peer_receive(&w->control, LEAT_MSG_TEXT, sizeof(struct leat_msg_text));
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
	peer_free(exec);
}

/* ---- behind a mount ---- */

static void meet_as_mount(struct world *w, struct peer *p)
{
	struct leat_msg_hello *m;

	peer_dial(w, p);
	m = leat_wire_begin(p->buf, LEAT_MSG_HELLO, sizeof(*m));
	leat_wire_put(m, "A");
	leat_wire_put(m, "");
	leat_wire_put(m, LEAT_PROGRAM_MOUNT);
	leat_wire_put(m, "");
	peer_say(p);
	peer_take_welcome(p);
}

/* The server tells that the kernel closes for who was killed, and then of the last close. */
static void test_behind(void **state)
{
	struct world *w = *state;
	struct peer *server = calloc(1, sizeof(*server));
	struct leat_msg_closed closed;
	struct file f;

	begin(w);
	meet_as_mount(w, server);
	f = peer_open(w, server, "mid", O_WRONLY | O_CREAT | O_TRUNC);
	peer_write(&f, "partial");
	closed = (struct leat_msg_closed){.h.type = LEAT_MSG_CLOSED,
					  .slot = f.slot,
					  .killed = LEAT_WIRE_CLOSING,
					  .ofd = f.ofd};
	peer_report(server, &closed.h);
	say_end(&w->control, "A");
	assert_false(is_answered(&w->control));
	close(f.fd);
	closed.killed = 1;
	peer_report(server, &closed.h);
	assert_int_equal(take_answer(&w->control), 0);
	assert_int_equal(open_by_b(w, "mid", "partial"), 0);
	peer_free(server);
}

/* Another process has it open, too: it lives on. */
static void test_behind_shared(void **state)
{
	struct world *w = *state;
	struct peer *server = calloc(1, sizeof(*server));
	struct leat_msg_closed closed;
	struct file f;

	begin(w);
	meet_as_mount(w, server);
	f = peer_open(w, server, "mid", O_WRONLY | O_CREAT | O_TRUNC);
	closed = (struct leat_msg_closed){.h.type = LEAT_MSG_CLOSED,
					  .slot = f.slot,
					  .killed = LEAT_WIRE_CLOSING,
					  .ofd = f.ofd};
	peer_report(server, &closed.h);
	assert_int_equal(world_step(w, LEAT_MSG_STEP_END, "A", 0), 0);
	peer_write(&f, "all of it");
	peer_close(server, &f);
	assert_int_equal(open_by_b(w, "mid", "all of it"), 0);
	peer_free(server);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_waited_for),   T(test_for_some_time), T(test_alive), T(test_has_closed),
		T(test_nobody_waits), T(test_instances),     T(test_abort), T(test_finish),
		T(test_behind),       T(test_behind_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
