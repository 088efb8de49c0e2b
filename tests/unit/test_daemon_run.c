/* The run as a whole: steps, who may take part, how it ends. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A makes mid (on close) and grow (no_update), B reads them
 * and makes final, which is permanent. */

static int setup(void **state)
{
	world_setup(state, world_flow(), false);
	return 0;
}

static int setup_serve(void **state)
{
	world_setup(state, world_flow(), true);
	return 0;
}

static void test_refusals(void **state)
{
	struct world *w = *state;
	struct peer *p = calloc(1, sizeof(*p));
	char error[512] = "";
	pid_t pid;

	peer_dial(w, p);
	assert_true(peer_hello(p, "C", "", 0) < 0);
	assert_non_null(strstr(leat_wire_string(p->buf, sizeof(struct leat_msg_welcome), 3),
			       "it has A, B"));
	close(p->fd);
	peer_dial(w, p);
	assert_true(peer_hello(p, "A", "other", 0) < 0);
	assert_non_null(strstr(leat_wire_string(p->buf, sizeof(struct leat_msg_welcome), 3),
			       "\"flow\" is"));
	close(p->fd);
	assert_int_equal(leat_daemon_spawn(&w->options, &pid, error, sizeof(error)), -EBUSY);
	assert_non_null(strstr(error, "another leat run"));
	/* what is no message ends the connection, and only that */
	peer_dial(w, p);
	assert_int_equal(send(p->fd, "nonsense", 8, 0), 8);
	assert_int_equal(recv(p->fd, p->buf, sizeof(p->buf), 0), 0);
	close(p->fd);
	peer_meet(w, p, "A");
	leat_wire_begin(p->buf, LEAT_MSG_STATUS, sizeof(struct leat_msg_text));
	peer_say(p); /* not for clients */
	assert_int_equal(recv(p->fd, p->buf, sizeof(p->buf), 0), 0);
	peer_free(p);
}

static void test_bad_directory(void **state)
{
	struct world *w = *state;
	struct leat_daemon_options options = w->options;
	char error[512] = "";
	pid_t pid;

	options.dir = "/nonexistent/dir";
	assert_int_equal(leat_daemon_spawn(&options, &pid, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, "/nonexistent/dir"));
	options.dir = "/dev/null";
	assert_int_equal(leat_daemon_spawn(&options, &pid, error, sizeof(error)), -ENOTDIR);
	assert_non_null(strstr(error, "/dev/null"));
}

/* Who started it takes it for dead, and waits for its end. */
static void test_ready_for_nobody(void **state)
{
	struct world *w = *state;
	struct leat_daemon_options options = w->options;
	char dir[sizeof(w->base) + 8];
	int fds[2], status;
	pid_t child;

	snprintf(dir, sizeof(dir), "%s/other", w->base);
	assert_int_equal(mkdir(dir, 0700), 0);
	options.dir = dir;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[0]);
	child = fork();
	if (child == 0) {
		alarm(30);
		_exit(leat_daemon_main(&options, fds[1], getppid()));
	}
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

static void test_status(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	int error;
	char *text;

	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, b, "B");
	assert_int_equal(peer_resolve(b, LEAT_OP_OPEN, "late", O_RDONLY)->error, -EAGAIN);
	text = world_text(w, LEAT_MSG_STATUS, &error);
	assert_int_equal(error, 0);
	assert_non_null(strstr(text, "{\"step\": \"B\", \"file\": \"late\", \"needs\": [\"A\"], "
				     "\"missing\": [\"A\"]}"));
	free(text);
	peer_free(b);
}

static void test_implicit_steps(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;
	int rc = -EAGAIN;

	peer_meet(w, b, "B");
	assert_int_equal(peer_try_open(w, b, "late", O_RDONLY, &g), -EAGAIN);
	world_in_process(w, "A", write_mid, true, 0);
	/* on termination: the step ends by itself when its last process is gone */
	for (int i = 0; i < 200 && rc == -EAGAIN; i++) {
		rc = peer_try_open(w, b, "late", O_RDONLY, &g);
		usleep(10000);
	}
	assert_int_equal(rc, -ENOENT);
	g = peer_open(w, b, "mid", O_RDONLY);
	close(g.fd);
	peer_free(b);
	world_finish(w, true);
}

static void test_implicit_failure(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;
	int rc = -EAGAIN;

	peer_meet(w, b, "B");
	world_in_process(w, "A", write_mid, false, 0); /* never says that it exits */
	for (int i = 0; i < 200 && rc == -EAGAIN; i++) {
		rc = peer_try_open(w, b, "mid", O_RDONLY, &g);
		usleep(10000);
	}
	assert_int_equal(rc, -EIO);
	peer_free(b);
	world_finish(w, false);
}

static void test_driver_gone(void **state)
{
	struct world *w = *state;
	int status;

	shutdown(w->control.fd, SHUT_RDWR);
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_int_equal(status, 0);
	w->pid = 0;
}

static void test_killed_daemon(void **state)
{
	struct world *w = *state;

	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	peer_part(&w->control);
	world_start(w); /* takes the stale session over */
}

static struct leat_workflow *circle(void)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1};
	struct leat_step *s;

	wf->name = strdup("circle");
	s = leat_workflow_add_step(wf, "A", pos);
	leat_names_add(&s->inputs, "y", pos);
	leat_names_add(&s->outputs, "x", pos);
	s = leat_workflow_add_step(wf, "B", pos);
	leat_names_add(&s->inputs, "x", pos);
	leat_names_add(&s->outputs, "y", pos);
	return wf;
}

static int setup_circle(void **state)
{
	world_setup(state, circle(), false);
	return 0;
}

/* A process of `step` that opens `path` and waits as long as it is told to; it
 * exits with 0 if that ends in EIO. First it leaves behind a child that sleeps. */
static pid_t wait_in_process(struct world *w, const char *step, const char *path, unsigned sleep_ms)
{
	pid_t child = fork();
	struct peer *p;

	if (child)
		return child;
	if (sleep_ms && fork() == 0) {
		usleep(1000 * sleep_ms);
		_exit(0);
	}
	p = calloc(1, sizeof(*p));
	peer_meet(w, p, step);
	for (;;) {
		const struct leat_msg_resolved *m = peer_resolve(p, LEAT_OP_OPEN, path, O_RDONLY);

		if (m->error != -EAGAIN)
			_exit(m->error != -EIO);
		leat_shm_wait(&p->shm->files[m->slot], m->seq, UINT64_MAX, 1000000000);
	}
}

/* ThreadSanitizer's own thread in each process could act: no deadlock would be certain. */
static void not_under_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
	skip();
#endif
}

static void test_deadlock(void **state)
{
	struct world *w = *state;
	const char *text;
	int error, status;
	pid_t a, b;

	not_under_thread_sanitizer();
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	a = wait_in_process(w, "A", "y", 0);
	b = wait_in_process(w, "B", "x", 0);
	text = world_event(w, &error);
	assert_int_equal(error, -EDEADLK);
	assert_non_null(strstr(text, "step A waits for y"));
	assert_int_equal(waitpid(a, &status, 0), a);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(b, &status, 0), b);
	assert_int_equal(status, 0);
	world_step(w, LEAT_MSG_STEP_END, "A", 1 << 8);
	world_step(w, LEAT_MSG_STEP_END, "B", 1 << 8);
	world_finish(w, false);
}

/* One of the steps has a child that sleeps: who knows what it will do. */
static void test_no_deadlock(void **state)
{
	struct world *w = *state;
	pid_t a, b;
	int error;
	char *text;

	not_under_thread_sanitizer();
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	a = wait_in_process(w, "A", "y", 3000);
	b = wait_in_process(w, "B", "x", 0);
	usleep(2200000);
	text = world_text(w, LEAT_MSG_STATUS, &error);
	assert_null(strstr(text, "deadlock"));
	assert_string_equal(w->control.event, "");
	free(text);
	world_event(w, &error); /* once the sleeper is gone */
	assert_int_equal(error, -EDEADLK);
	waitpid(a, NULL, 0);
	waitpid(b, NULL, 0);
}

/* gen -> staged (without interception) -> use */
static struct leat_workflow *with_staged(void)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1};
	struct leat_step *s;

	wf->name = strdup("staged");
	s = leat_workflow_add_step(wf, "gen", pos);
	leat_names_add(&s->outputs, "in/a", pos);
	s = leat_workflow_add_step(wf, "staged", pos);
	s->staged = true;
	leat_names_add(&s->inputs, "in/a", pos);
	leat_names_add(&s->outputs, "tmp/*.out", pos);
	leat_names_add(&s->outputs, "kept", pos);
	s = leat_workflow_add_step(wf, "use", pos);
	leat_names_add(&s->inputs, "tmp/*.out", pos);
	leat_names_add(&wf->permanent, "kept", pos);
	return wf;
}

static int setup_staged(void **state)
{
	world_setup(state, with_staged(), false);
	return 0;
}

static int ask_launch(struct world *w, unsigned step)
{
	int rc = -EAGAIN;

	for (int i = 0; i < 100 && rc == -EAGAIN; i++) {
		rc = peer_ask_launch(&w->control, step);
		if (rc == -EAGAIN)
			usleep(10000);
	}
	return rc;
}

static void write_on_disk(struct world *w, const char *path, const char *text)
{
	int fd = openat(w->dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static void test_staged(void **state)
{
	struct world *w = *state;
	struct peer *gen = calloc(1, sizeof(*gen)), *use = calloc(1, sizeof(*use));
	const struct leat_msg_resolved *m;
	struct file f;

	world_step(w, LEAT_MSG_STEP_START, "gen", 0);
	world_step(w, LEAT_MSG_STEP_START, "use", 0);
	peer_meet(w, gen, "gen");
	peer_meet(w, use, "use");
	m = peer_resolve(gen, LEAT_OP_MKDIR, "in", 0);
	assert_int_equal(mkdirat(gen->store_fd, peer_path(m), 0755), 0);
	peer_make(w, gen, "in/a", "input");
	assert_int_equal(peer_ask_launch(&w->control, 1), -EAGAIN);
	peer_part(gen);
	world_step(w, LEAT_MSG_STEP_END, "gen", 0);
	assert_int_equal(ask_launch(w, 1), 0);
	world_check_disk(w, "in/a", "input");
	world_step(w, LEAT_MSG_STEP_START, "staged", 0);
	assert_int_equal(mkdirat(w->dir_fd, "tmp", 0755), 0);
	write_on_disk(w, "tmp/1.out", "first");
	write_on_disk(w, "kept", "kept");
	assert_int_equal(peer_try_open(w, use, "tmp/1.out", O_RDONLY, &f), -EAGAIN);
	world_step(w, LEAT_MSG_STEP_END, "staged", 0);
	f = peer_open(w, use, "tmp/1.out", O_RDONLY);
	close(f.fd);
	peer_part(use);
	world_step(w, LEAT_MSG_STEP_END, "use", 0);
	world_finish(w, true);
	world_check_disk(w, "in/a", NULL);
	world_check_disk(w, "tmp/1.out", NULL);
	world_check_disk(w, "kept", "kept");
	free(gen);
	free(use);
}

/* Step B, the last, has made the directory for its output. */
static struct peer *begin_last(struct world *w)
{
	struct peer *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	peer_meet(w, b, "B");
	m = peer_resolve(b, LEAT_OP_MKDIR, "out", 0);
	assert_int_equal(mkdirat(b->store_fd, peer_path(m), 0755), 0);
	return b;
}

/* The permanent file cannot be written: the run fails and says which, and why. */
static void test_unsaved(void **state)
{
	struct world *w = *state;
	struct peer *b = begin_last(w);
	const char *text;
	int error;

	peer_make(w, b, "out/final", "result");
	write_on_disk(w, "out", "in the way");
	peer_free(b);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	text = world_event(w, &error);
	assert_int_equal(error, -ENOTDIR);
	assert_non_null(strstr(text, "out/final: Not a directory"));
	world_finish(w, false);
}

/* Step B ends with `out/final` written, which a process that nobody knows has open for so long. */
static pid_t end_with_open(struct world *w, unsigned ms)
{
	struct peer *b = begin_last(w);
	struct file f;
	pid_t child;

	f = peer_open(w, b, "out/final", O_WRONLY | O_CREAT | O_TRUNC);
	peer_write(&f, "result");
	child = fork();
	if (!child) {
		usleep(ms * 1000);
		_exit(0);
	}
	close(f.fd);
	peer_free(b);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	return child;
}

/* The kernel closes what a process had open some time after that is gone. */
static void test_closed_late(void **state)
{
	struct world *w = *state;
	pid_t child = end_with_open(w, 300);

	world_finish(w, true);
	world_check_disk(w, "out/final", "result");
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_never_closed(void **state)
{
	struct world *w = *state;
	pid_t child = end_with_open(w, 60000);
	int error;
	char *text = world_text(w, LEAT_MSG_FINISH, &error);

	assert_non_null(strstr(text,
			       "out/final is still open for writing at the end of the run, by a "
			       "process that step B has left"));
	assert_int_equal(error, -ECANCELED);
	free(text);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* make(1) would make it again if it seemed older than what it was made of. */
static void test_times(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct timespec soon[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 4000000000}};
	const struct leat_msg_resolved *m;
	struct stat st;

	world_meet_both(w, a, b);
	peer_make(w, a, "late", "x");
	m = peer_resolve(a, LEAT_OP_META, "late", 0);
	assert_int_equal(utimensat(a->store_fd, peer_path(m), soon, 0), 0);
	m = peer_resolve(b, LEAT_OP_MKDIR, "out", 0);
	assert_int_equal(mkdirat(b->store_fd, peer_path(m), 0755), 0);
	peer_make(w, b, "out/final", "result");
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	m = peer_resolve(b, LEAT_OP_META, "out/final", 0);
	assert_int_equal(fchmodat(b->store_fd, peer_path(m), 0711, 0), 0);
	peer_free(a);
	peer_free(b);
	world_finish(w, true);
	assert_int_equal(fstatat(w->dir_fd, "out/final", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0711);
	assert_int_equal(st.st_mtim.tv_sec, 4000000000);
}

/* A message with a proper header and a random body. */
static void send_garbage(struct peer *p, unsigned *seed)
{
	static const char letters[] = "midgrowpartslate/./..*-";
	unsigned type = LEAT_MSG_RESOLVE + (unsigned)rand_r(seed) % (LEAT_MSG_REFUSED - 1);
	size_t fixed = leat_wire_fixed_size((enum leat_msg_type)type);
	struct leat_msg *h = leat_wire_begin(p->buf, (enum leat_msg_type)type, fixed);
	char *body = p->buf + sizeof(*h);

	for (size_t i = 0; i < fixed - sizeof(*h); i += 4)
		body[i] = (char)(rand_r(seed) % 7 ? rand_r(seed) % 10 : rand_r(seed));
	for (int k = rand_r(seed) % 4; k > 0; k--) {
		char name[16] = "x";

		for (int i = 1, n = rand_r(seed) % 12; i < n; i++)
			name[i] = letters[(unsigned)rand_r(seed) % (sizeof(letters) - 1)];
		leat_wire_put(p->buf, name);
	}
	if (rand_r(seed) % 50 == 0)
		h->size -= h->size > fixed;
	send(p->fd, p->buf, h->size, MSG_NOSIGNAL);
}

/* Clients are not trusted: nothing they say may take the daemon down. */
static void test_garbage(void **state)
{
	struct world *w = *state;
	struct peer *p = calloc(1, sizeof(*p));
	unsigned seed = 1;
	int error;
	char *text;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	for (int i = 0; i < 200; i++) {
		peer_meet(w, p, i % 2 ? "A" : "B");
		for (int k = 0; k < 20; k++)
			send_garbage(p, &seed);
		peer_part(p);
	}
	free(p);
	text = world_text(w, LEAT_MSG_STATUS, &error);
	assert_int_equal(error, 0);
	free(text);
}

static void ask_step_end(struct peer *p, const char *step)
{
	leat_wire_begin(p->buf, LEAT_MSG_STEP_END, sizeof(struct leat_msg_step));
	leat_wire_put(p->buf, step);
	leat_wire_put(p->buf, "");
	peer_say(p);
}

/* What was dropped while others of its process were being heard out is not heard any more. */
static void test_dropped_beside(void **state)
{
	struct world *w = *state;
	struct peer *dropped = calloc(1, sizeof(*dropped)), *a = calloc(1, sizeof(*a));

	peer_dial(w, dropped);
	assert_int_equal(peer_hello(dropped, "", "", LEAT_CONTROL), 0);
	peer_meet(w, a, "A");
	kill(w->pid, SIGSTOP);
	ask_step_end(&w->control, "A"); /* hears all of this process out, ... */
	ask_step_end(&w->control, "A"); /* ... this one first, which hears all others, ... */
	assert_int_equal(send(dropped->fd, "nonsense", 8, 0), 8);
	leat_wire_begin(dropped->buf, LEAT_MSG_FINISH, sizeof(struct leat_msg_text));
	peer_say(dropped); /* ... so that this comes from who is no more */
	kill(w->pid, SIGCONT);
	for (int i = 0; i < 2; i++)
		peer_receive(&w->control, LEAT_MSG_ANSWER, sizeof(struct leat_msg_answer));
	assert_true(recv(dropped->fd, dropped->buf, sizeof(dropped->buf), 0) <= 0);
	peer_part(dropped);
	/* the run goes on */
	peer_make(w, a, "mid", "text");
	peer_free(a);
	free(dropped);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
#define S(name) cmocka_unit_test_setup_teardown(name, setup_serve, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_refusals),
		T(test_bad_directory),
		T(test_ready_for_nobody),
		T(test_status),
		S(test_implicit_steps),
		S(test_implicit_failure),
		T(test_driver_gone),
		T(test_killed_daemon),
		T(test_unsaved),
		T(test_closed_late),
		T(test_never_closed),
		T(test_times),
		T(test_garbage),
		T(test_dropped_beside),
		cmocka_unit_test_setup_teardown(test_deadlock, setup_circle, world_teardown),
		cmocka_unit_test_setup_teardown(test_no_deadlock, setup_circle, world_teardown),
		cmocka_unit_test_setup_teardown(test_staged, setup_staged, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
