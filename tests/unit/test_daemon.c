/* A scripted client speaks with a real daemon. */
#include "daemon/daemon.h"
#include "base/fd.h"
#include "shm/state.h"
#include "store/remove.h"
#include "stream/stream.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* One connection, as one thread of a client has it. */
struct peer {
	int fd;
	int store_fd;
	int shm_fd;
	struct leat_shm *shm;
	_Alignas(8) char buf[LEAT_WIRE_MAX];
};

struct world {
	char base[64];
	char dir[80];
	char runtime[80];
	int dir_fd;
	struct leat_workflow *wf;
	struct leat_daemon_options options;
	pid_t pid;
	struct peer control;
};

/* ---- speaking ---- */

static void *receive(struct peer *p, enum leat_msg_type type, size_t fixed)
{
	struct leat_msg *h = (struct leat_msg *)(void *)p->buf;
	ssize_t n;

	do {
		n = recv(p->fd, p->buf, sizeof(p->buf), 0);
		assert_true(n > 0);
		assert_int_equal(leat_wire_check(p->buf, (size_t)n, sizeof(*h)), 0);
	} while (h->type == LEAT_MSG_EVENT && type != LEAT_MSG_EVENT);
	assert_int_equal(h->type, type);
	assert_int_equal(leat_wire_check(p->buf, (size_t)n, fixed), 0);
	return p->buf;
}

static void say(struct peer *p)
{
	struct leat_msg *h = (struct leat_msg *)(void *)p->buf;

	assert_int_equal(send(p->fd, p->buf, h->size, MSG_NOSIGNAL), (int)h->size);
}

static void dial(struct world *w, struct peer *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char real[PATH_MAX];

	assert_non_null(realpath(w->dir, real));
	assert_int_equal(
		leat_wire_session_path(w->runtime, geteuid(), real, a.sun_path, sizeof(a.sun_path)),
		0);
	p->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(p->fd, (struct sockaddr *)&a, sizeof(a)), 0);
}

/* The welcome's error; descriptors and segment are kept if it is 0. */
static int hello(struct peer *p, const char *step, const char *workflow, unsigned control)
{
	struct leat_msg_hello *m = leat_wire_begin(p->buf, LEAT_MSG_HELLO, sizeof(*m));
	struct leat_msg_welcome *welcome = (struct leat_msg_welcome *)(void *)p->buf;
	char space[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec io = {p->buf, sizeof(p->buf)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	int fds[2];

	m->control = control;
	leat_wire_put(m, step);
	leat_wire_put(m, workflow);
	leat_wire_put(m, "test");
	say(p);
	assert_true(recvmsg(p->fd, &msg, 0) > 0);
	if (welcome->error)
		return welcome->error;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fds));
	p->store_fd = fds[0];
	p->shm_fd = fds[1];
	assert_int_equal(leat_shm_map(p->shm_fd, &p->shm), 0);
	return 0;
}

static void meet(struct world *w, struct peer *p, const char *step)
{
	dial(w, p);
	assert_int_equal(hello(p, step, "", 0), 0);
}

static void part(struct peer *p)
{
	leat_shm_unmap(p->shm);
	close(p->shm_fd);
	close(p->store_fd);
	close(p->fd);
}

static const struct leat_msg_resolved *resolve(struct peer *p, enum leat_op op, const char *path,
					       unsigned flags)
{
	struct leat_msg_resolve *m = leat_wire_begin(p->buf, LEAT_MSG_RESOLVE, sizeof(*m));

	m->op = op;
	m->flags = flags;
	m->mode = 0644;
	leat_wire_put(m, path);
	say(p);
	return receive(p, LEAT_MSG_RESOLVED, sizeof(struct leat_msg_resolved));
}

static const char *path_of(const struct leat_msg_resolved *m)
{
	return leat_wire_string(m, sizeof(*m), 0);
}

static void fact(struct peer *p, enum leat_msg_type type, struct leat_msg_fact f)
{
	struct leat_msg_fact *m = leat_wire_begin(p->buf, type, sizeof(*m));
	struct leat_msg h = m->h;

	*m = f;
	m->h = h;
	say(p);
}

static int ask(struct peer *p, enum leat_call call, unsigned slot, uint64_t offset, uint64_t length)
{
	struct leat_msg_ask *m = leat_wire_begin(p->buf, LEAT_MSG_ASK, sizeof(*m));

	m->call = call;
	m->slot = slot;
	m->offset = offset;
	m->length = length;
	say(p);
	return ((struct leat_msg_answer *)receive(p, LEAT_MSG_ANSWER,
						  sizeof(struct leat_msg_answer)))
		->error;
}

static int change(struct peer *p, enum leat_change change, const char *a, const char *b)
{
	struct leat_msg_change *m = leat_wire_begin(p->buf, LEAT_MSG_CHANGE, sizeof(*m));

	m->change = change;
	leat_wire_put(m, a);
	leat_wire_put(m, b);
	say(p);
	return ((struct leat_msg_answer *)receive(p, LEAT_MSG_ANSWER,
						  sizeof(struct leat_msg_answer)))
		->error;
}

static int step_says(struct world *w, enum leat_msg_type type, const char *step, int status)
{
	struct leat_msg_step *m = leat_wire_begin(w->control.buf, type, sizeof(*m));

	m->status = status;
	leat_wire_put(m, step);
	leat_wire_put(m, "");
	say(&w->control);
	return ((struct leat_msg_answer *)receive(&w->control, LEAT_MSG_ANSWER,
						  sizeof(struct leat_msg_answer)))
		->error;
}

static void exiting(struct peer *p, int status)
{
	struct leat_msg_step *m = leat_wire_begin(p->buf, LEAT_MSG_EXITING, sizeof(*m));

	m->status = status;
	leat_wire_put(m, "");
	leat_wire_put(m, "");
	say(p);
}

/* The JSON that answers STATUS or FINISH; freed by the caller. */
static char *text_of(struct world *w, enum leat_msg_type type, int *error)
{
	struct leat_msg_text *m;
	char *text = calloc(1, 1);
	unsigned more;

	leat_wire_begin(w->control.buf, type, sizeof(*m));
	say(&w->control);
	do {
		const char *part;

		m = receive(&w->control, LEAT_MSG_TEXT, sizeof(*m));
		part = leat_wire_string(m, sizeof(*m), 0);
		text = realloc(text, strlen(text) + strlen(part) + 1);
		strcat(text, part);
		more = m->more;
		*error = m->error;
	} while (more);
	return text;
}

/* ---- doing ---- */

/* An open file as the library has one. */
struct file {
	int fd;
	unsigned slot;
	uint64_t ofd;
	uint32_t kind;
};

static int lock_byte(int fd, uint64_t ofd)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)(LEAT_OFD_LOCK + ofd),
			     .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock);
}

/* 0 and the file, or the error told. */
static int try_open(struct world *w, struct peer *p, const char *path, unsigned flags,
		    struct file *f)
{
	const struct leat_msg_resolved *m = resolve(p, LEAT_OP_OPEN, path, flags);

	*f = (struct file){.fd = -1, .slot = m->slot, .ofd = m->ofd, .kind = m->kind};
	if (m->error)
		return m->error;
	f->fd = openat(m->place == LEAT_PLACE_STORE ? p->store_fd : w->dir_fd, path_of(m),
		       (int)m->flags, 0644);
	assert_true(f->fd >= 0);
	if (f->ofd)
		assert_int_equal(lock_byte(f->fd, f->ofd), 0);
	return 0;
}

static struct file must_open(struct world *w, struct peer *p, const char *path, unsigned flags)
{
	struct file f;

	assert_int_equal(try_open(w, p, path, flags, &f), 0);
	return f;
}

static void put(struct file *f, const char *text)
{
	assert_int_equal(write(f->fd, text, strlen(text)), (int)strlen(text));
}

static void shut(struct peer *p, struct file *f)
{
	close(f->fd);
	if (f->ofd)
		fact(p, LEAT_MSG_CLOSED, (struct leat_msg_fact){.slot = f->slot, .ofd = f->ofd});
}

static void make(struct world *w, struct peer *p, const char *path, const char *text)
{
	struct file f = must_open(w, p, path, O_WRONLY | O_CREAT | O_TRUNC);

	put(&f, text);
	shut(p, &f);
}

static void check_disk(struct world *w, const char *path, const char *text)
{
	char found[256] = "";
	int fd = openat(w->dir_fd, path, O_RDONLY);

	if (!text) {
		assert_int_equal(fd, -1);
		return;
	}
	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) >= 0);
	assert_string_equal(found, text);
	close(fd);
}

/* ---- the workflow: A makes mid (on close) and grow (no_update), B reads them
 * and makes final, which is permanent ---- */

static struct leat_workflow *workflow(void)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1, .column = 1};
	struct leat_step *a, *b;
	struct leat_rule *r;

	assert_non_null(wf);
	wf->name = strdup("flow");
	wf->path = strdup("flow.json");
	a = leat_workflow_add_step(wf, "A", pos);
	leat_names_add(&a->outputs, "mid", pos);
	leat_names_add(&a->outputs, "grow", pos);
	leat_names_add(&a->outputs, "parts/*", pos);
	leat_names_add(&a->outputs, "late", pos);
	r = leat_step_add_rule(a, "mid", pos);
	r->commit = LEAT_COMMIT_ON_CLOSE;
	r->count = 1;
	r = leat_step_add_rule(a, "grow", pos);
	r->fire = LEAT_FIRE_NO_UPDATE;
	b = leat_workflow_add_step(wf, "B", pos);
	leat_names_add(&b->inputs, "mid", pos);
	leat_names_add(&b->inputs, "grow", pos);
	leat_names_add(&b->inputs, "parts/*", pos);
	leat_names_add(&b->inputs, "late", pos);
	leat_names_add(&b->outputs, "out/final", pos);
	leat_names_add(&wf->permanent, "out/final", pos);
	return wf;
}

static void start(struct world *w)
{
	char error[512] = "";

	if (leat_daemon_spawn(&w->options, &w->pid, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	dial(w, &w->control);
	assert_int_equal(hello(&w->control, "", "", LEAT_CONTROL | LEAT_CONTROL_EVENTS), 0);
}

static int setup_options(void **state, bool serve)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->base, "/tmp/leat-test-daemon-XXXXXX");
	assert_non_null(mkdtemp(w->base));
	snprintf(w->dir, sizeof(w->dir), "%s/dir", w->base);
	snprintf(w->runtime, sizeof(w->runtime), "%s/run", w->base);
	assert_int_equal(mkdir(w->dir, 0755), 0);
	w->dir_fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->wf = workflow();
	w->options = (struct leat_daemon_options){.wf = w->wf,
						  .dir = w->dir,
						  .runtime_dir = w->runtime,
						  .memory_bytes = 64 << 20,
						  .serve = serve};
	start(w);
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return setup_options(state, false);
}

static int setup_serve(void **state)
{
	return setup_options(state, true);
}

static void finish(struct world *w, bool ok)
{
	int error, status;
	char *text = text_of(w, LEAT_MSG_FINISH, &error);

	if ((strstr(text, "\"ok\": true") != NULL) != ok)
		fail_msg("%s", text);
	assert_int_equal(error == 0, ok);
	free(text);
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_int_equal(status, 0);
	w->pid = 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	int left;

	if (w->pid) {
		kill(w->pid, SIGTERM);
		waitpid(w->pid, NULL, 0);
	}
	part(&w->control);
	/* whatever the end was: nothing of the session stays */
	left = rmdir(w->runtime);
	close(w->dir_fd);
	leat_workflow_free(w->wf);
	leat_remove_tree(AT_FDCWD, w->base);
	free(w);
	return left;
}

/* ---- tests ---- */

static void test_commit_on_close(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct leat_shm_file *record;
	struct file f, g;
	unsigned slot, seq;
	char text[16] = "";

	assert_int_equal(step_says(w, LEAT_MSG_STEP_START, "A", 0), 0);
	assert_int_equal(step_says(w, LEAT_MSG_STEP_START, "B", 0), 0);
	meet(w, a, "A");
	meet(w, b, "B");
	m = resolve(b, LEAT_OP_OPEN, "mid", O_RDONLY);
	assert_int_equal(m->error, -EAGAIN);
	slot = m->slot;
	seq = m->seq;
	record = &b->shm->files[slot];
	f = must_open(w, a, "./mid", O_WRONLY | O_CREAT | O_TRUNC);
	assert_int_equal(f.kind, LEAT_KIND_PRODUCER);
	put(&f, "hello");
	assert_int_equal(resolve(b, LEAT_OP_OPEN, "mid", O_RDONLY)->error, -EAGAIN);
	assert_int_equal(resolve(b, LEAT_OP_LOOK, "mid", 0)->error, -EAGAIN);
	shut(a, &f);
	/* the client of B sleeps here */
	while (!(leat_shm_flags(record) & LEAT_SHM_COMMITTED))
		leat_shm_wait(record, seq = leat_shm_seq(record), UINT64_MAX, 100000000);
	assert_int_equal(leat_shm_size(record), 5);
	g = must_open(w, b, "mid", O_RDONLY);
	assert_int_equal(g.kind, LEAT_KIND_COUNTED);
	assert_int_equal(read(g.fd, text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	close(g.fd);
	make(w, b, "out/../mid2", "x"); /* undeclared: on disk */
	check_disk(w, "mid2", "x");
	check_disk(w, "mid", NULL);
	part(a);
	part(b);
	free(a);
	free(b);
}

static void test_growing(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct leat_shm_file *record;
	struct file f, g;

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, a, "A");
	meet(w, b, "B");
	f = must_open(w, a, "grow", O_WRONLY | O_CREAT | O_TRUNC);
	assert_int_equal(f.kind, LEAT_KIND_PUBLISHER);
	assert_int_equal(try_open(w, b, "grow", O_RDONLY, &g), -EAGAIN);
	record = &a->shm->files[f.slot];
	put(&f, "12345");
	leat_shm_publish(record, 5);
	g = must_open(w, b, "grow", O_RDONLY);
	assert_int_equal(g.kind, LEAT_KIND_CONSUMER);
	assert_int_equal(g.slot, f.slot);
	assert_int_equal(ask(b, LEAT_CALL_READ, g.slot, 0, 5), 0);
	assert_int_equal(ask(b, LEAT_CALL_READ, g.slot, 0, 6), -EAGAIN);
	assert_int_equal(ask(b, LEAT_CALL_WHOLE, g.slot, 0, 0), -EAGAIN);
	/* a gap: [7,9) is known to the daemon only until [5,7) closes it */
	leat_shm_mark_sparse(record);
	assert_int_equal(pwrite(f.fd, "89", 2, 7), 2);
	fact(a, LEAT_MSG_EXTENT, (struct leat_msg_fact){.slot = f.slot, .offset = 7, .length = 2});
	assert_int_equal(ask(b, LEAT_CALL_READ, g.slot, 0, 6), -EAGAIN);
	assert_int_equal(ask(a, LEAT_CALL_WRITE, f.slot, 0, 0), 0);
	assert_int_equal(leat_shm_frontier(record), 5);
	assert_true(leat_shm_flags(record) & LEAT_SHM_EXTENTS);
	assert_int_equal(pwrite(f.fd, "67", 2, 5), 2);
	leat_shm_publish(record, 7);
	fact(a, LEAT_MSG_EXTENT, (struct leat_msg_fact){.slot = f.slot, .offset = 5, .length = 2});
	assert_int_equal(ask(a, LEAT_CALL_WRITE, f.slot, 0, 0), 0);
	assert_int_equal(leat_shm_frontier(record), 9);
	assert_int_equal(ask(b, LEAT_CALL_READ, g.slot, 0, 9), 0);
	shut(a, &f);
	assert_int_equal(ask(b, LEAT_CALL_WHOLE, g.slot, 0, 0), -EAGAIN);
	step_says(w, LEAT_MSG_STEP_END, "A", 0);
	assert_true(leat_shm_flags(record) & LEAT_SHM_COMMITTED);
	assert_int_equal(leat_shm_size(record), 9);
	close(g.fd);
	part(a);
	part(b);
	free(a);
	free(b);
}

static void test_last_close(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	int copy, status;
	pid_t child;

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, a, "A");
	meet(w, b, "B");
	f = must_open(w, a, "mid", O_WRONLY | O_CREAT | O_TRUNC);
	put(&f, "data");
	copy = dup(f.fd);
	child = fork();
	if (child == 0) {
		usleep(300000);
		_exit(0);
	}
	shut(a, &f);
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	close(copy);
	fact(a, LEAT_MSG_CLOSED, (struct leat_msg_fact){.slot = f.slot, .ofd = f.ofd});
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN); /* the child has it */
	assert_int_equal(waitpid(child, &status, 0), child);
	/* nobody says so: the daemon looks by itself */
	for (int i = 0; i < 100 && try_open(w, b, "mid", O_RDONLY, &g) == -EAGAIN; i++)
		usleep(10000);
	assert_true(g.fd >= 0);
	close(g.fd);
	part(a);
	part(b);
	free(a);
	free(b);
}

/* Runs `body` in a process of its own, which ends as told. */
static void in_process(struct world *w, const char *step,
		       void (*body)(struct world *, struct peer *), bool announce, int how)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct peer *p = calloc(1, sizeof(*p));

		meet(w, p, step);
		body(w, p);
		if (announce)
			exiting(p, how);
		if (how < 0)
			raise(-how);
		_exit(how);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
}

static void write_mid(struct world *w, struct peer *p)
{
	struct file f = must_open(w, p, "mid", O_WRONLY | O_CREAT | O_TRUNC);

	put(&f, "partial");
}

static void write_final(struct world *w, struct peer *p)
{
	struct file f;
	const struct leat_msg_resolved *m;

	/* as in a batch, the directory has to be made first */
	assert_int_equal(try_open(w, p, "out/final", O_WRONLY | O_CREAT, &f), -ENOENT);
	m = resolve(p, LEAT_OP_MKDIR, "out", 0);
	assert_int_equal(m->error, 0);
	assert_int_equal(mkdirat(p->store_fd, path_of(m), 0755), 0);
	make(w, p, "out/final", "result");
}

static void test_killed(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, b, "B");
	in_process(w, "A", write_mid, false, -SIGKILL);
	usleep(200000);
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN); /* not closed well */
	step_says(w, LEAT_MSG_STEP_END, "A", SIGKILL);
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EIO);
	step_says(w, LEAT_MSG_STEP_END, "B", 1 << 8);
	part(b);
	free(b);
	finish(w, false);
}

static void test_exit_closes(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, b, "B");
	in_process(w, "A", write_mid, true, 0);
	step_says(w, LEAT_MSG_STEP_END, "A", 0);
	g = must_open(w, b, "mid", O_RDONLY);
	close(g.fd);
	part(b);
	free(b);
	in_process(w, "B", write_final, true, 0);
	check_disk(w, "out/final", NULL);
	step_says(w, LEAT_MSG_STEP_END, "B", 0);
	finish(w, true);
	check_disk(w, "out/final", "result");
	check_disk(w, "mid", NULL);
}

static void test_stale_is_hidden(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	int fd = openat(w->dir_fd, "mid", O_WRONLY | O_CREAT, 0600);
	char text[32] = "";

	assert_int_equal(write(fd, "old content", 11), 11);
	close(fd);
	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, a, "A");
	meet(w, b, "B");
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	/* the producer works on a copy */
	f = must_open(w, a, "mid", O_WRONLY | O_APPEND);
	put(&f, "+new");
	shut(a, &f);
	g = must_open(w, b, "mid", O_RDONLY);
	assert_int_equal(read(g.fd, text, sizeof(text)), 15);
	assert_string_equal(text, "old content+new");
	close(g.fd);
	check_disk(w, "mid", "old content");
	part(a);
	part(b);
	free(a);
	free(b);
}

static void test_rename_publishes(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file g;
	char text[16] = "";

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, a, "A");
	meet(w, b, "B");
	make(w, a, "mid.tmp", "whole"); /* undeclared: on disk */
	check_disk(w, "mid.tmp", "whole");
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	assert_int_equal(change(a, LEAT_CHANGE_RENAME, "mid.tmp", "mid"), 0);
	g = must_open(w, b, "mid", O_RDONLY);
	assert_int_equal(read(g.fd, text, sizeof(text)), 5);
	assert_string_equal(text, "whole");
	close(g.fd);
	assert_int_equal(change(a, LEAT_CHANGE_RENAME, "mid.tmp", "mid"), -ENOENT);
	assert_int_equal(change(a, LEAT_CHANGE_UNLINK, "nothing", ""), -ENOENT);
	step_says(w, LEAT_MSG_STEP_END, "A", 0);
	step_says(w, LEAT_MSG_STEP_END, "B", 0);
	finish(w, true);
	check_disk(w, "mid", NULL); /* a temporary leaves nothing behind */
	part(a);
	part(b);
	free(a);
	free(b);
}

/* Names of the listing, joined, in `out`; the error told. */
static int list(struct peer *p, const char *path, char *out, size_t size)
{
	struct leat_msg_list *m = leat_wire_begin(p->buf, LEAT_MSG_LIST, sizeof(*m));
	const struct leat_msg_names *n;
	const char *at;

	leat_wire_put(m, path);
	say(p);
	n = receive(p, LEAT_MSG_NAMES, sizeof(*n));
	*out = 0;
	at = (const char *)n + sizeof(*n);
	for (unsigned i = 0; !n->error && i < n->count; i++) {
		at += sizeof(uint64_t) + 1;
		if (*at != '.')
			snprintf(out + strlen(out), size - strlen(out), "%s ", at);
		at += strlen(at) + 1;
	}
	return n->error;
}

static void test_directory(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	char names[64];

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, a, "A");
	meet(w, b, "B");
	assert_int_equal(resolve(b, LEAT_OP_OPEN, "parts", O_RDONLY | O_DIRECTORY)->error, -EAGAIN);
	m = resolve(a, LEAT_OP_MKDIR, "parts", 0);
	assert_int_equal(m->error, 0);
	assert_int_equal(m->place, LEAT_PLACE_STORE);
	assert_int_equal(mkdirat(a->store_fd, path_of(m), 0755), 0);
	assert_int_equal(resolve(a, LEAT_OP_MKDIR, "parts", 0)->error, -EEXIST);
	make(w, a, "parts/1", "one");
	m = resolve(b, LEAT_OP_OPEN, "parts", O_RDONLY | O_DIRECTORY);
	assert_int_equal(m->error, 0);
	assert_int_equal(m->kind, LEAT_KIND_DIR);
	assert_int_equal(list(b, "parts", names, sizeof(names)), -EAGAIN);
	assert_int_equal(list(a, "parts", names, sizeof(names)), 0);
	assert_string_equal(names, "1 ");
	step_says(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(list(b, "parts", names, sizeof(names)), 0);
	assert_string_equal(names, "1 ");
	assert_int_equal(change(b, LEAT_CHANGE_RMDIR, "parts", ""), -ENOTEMPTY);
	part(a);
	part(b);
	free(a);
	free(b);
}

static void test_failed_open(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct file g;

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, a, "A");
	meet(w, b, "B");
	m = resolve(a, LEAT_OP_OPEN, "mid", O_WRONLY | O_CREAT);
	assert_int_equal(m->error, 0);
	fact(a, LEAT_MSG_OPENED,
	     (struct leat_msg_fact){.slot = m->slot, .ofd = m->ofd, .error = -EMFILE});
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	step_says(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(try_open(w, b, "mid", O_RDONLY, &g), -ENOENT);
	part(a);
	part(b);
	free(a);
	free(b);
}

static void test_refusals(void **state)
{
	struct world *w = *state;
	struct peer *p = calloc(1, sizeof(*p));
	char error[512] = "";
	pid_t pid;

	dial(w, p);
	assert_true(hello(p, "C", "", 0) < 0);
	assert_non_null(strstr(leat_wire_string(p->buf, sizeof(struct leat_msg_welcome), 3),
			       "it has A, B"));
	close(p->fd);
	dial(w, p);
	assert_true(hello(p, "A", "other", 0) < 0);
	assert_non_null(strstr(leat_wire_string(p->buf, sizeof(struct leat_msg_welcome), 3),
			       "\"flow\" is"));
	close(p->fd);
	assert_int_equal(leat_daemon_spawn(&w->options, &pid, error, sizeof(error)), -EBUSY);
	assert_non_null(strstr(error, "another leat run"));
	/* what is no message ends the connection, and only that */
	dial(w, p);
	assert_int_equal(send(p->fd, "nonsense", 8, 0), 8);
	assert_int_equal(recv(p->fd, p->buf, sizeof(p->buf), 0), 0);
	close(p->fd);
	meet(w, p, "A");
	leat_wire_begin(p->buf, LEAT_MSG_STATUS, sizeof(struct leat_msg_text));
	say(p); /* not for clients */
	assert_int_equal(recv(p->fd, p->buf, sizeof(p->buf), 0), 0);
	part(p);
	free(p);
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

static void test_status(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	int error;
	char *text;

	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	meet(w, b, "B");
	assert_int_equal(resolve(b, LEAT_OP_OPEN, "late", O_RDONLY)->error, -EAGAIN);
	text = text_of(w, LEAT_MSG_STATUS, &error);
	assert_int_equal(error, 0);
	assert_non_null(strstr(text, "{\"step\": \"B\", \"file\": \"late\", \"needs\": [\"A\"], "
				     "\"missing\": [\"A\"]}"));
	free(text);
	part(b);
	free(b);
}

/* B waits for A, and A for B. */
static void test_deadlock(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file g;
	int rc = -EAGAIN;

	step_says(w, LEAT_MSG_STEP_START, "A", 0);
	step_says(w, LEAT_MSG_STEP_START, "B", 0);
	step_says(w, LEAT_MSG_STEP_END, "A", 0); /* without having made anything */
	meet(w, b, "B");
	rc = try_open(w, b, "late", O_RDONLY, &g);
	assert_int_equal(rc, -ENOENT);
	part(b);
	free(a);
	free(b);
}

static void test_implicit_steps(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;
	int rc = -EAGAIN;

	meet(w, b, "B");
	assert_int_equal(try_open(w, b, "late", O_RDONLY, &g), -EAGAIN);
	in_process(w, "A", write_mid, true, 0);
	/* on termination: the step ends by itself when its last process is gone */
	for (int i = 0; i < 200 && rc == -EAGAIN; i++) {
		rc = try_open(w, b, "late", O_RDONLY, &g);
		usleep(10000);
	}
	assert_int_equal(rc, -ENOENT);
	g = must_open(w, b, "mid", O_RDONLY);
	close(g.fd);
	part(b);
	free(b);
	finish(w, true);
}

static void test_implicit_failure(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;
	int rc = -EAGAIN;

	meet(w, b, "B");
	in_process(w, "A", write_mid, false, 0); /* never says that it exits */
	for (int i = 0; i < 200 && rc == -EAGAIN; i++) {
		rc = try_open(w, b, "mid", O_RDONLY, &g);
		usleep(10000);
	}
	assert_int_equal(rc, -EIO);
	part(b);
	free(b);
	finish(w, false);
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
	part(&w->control);
	start(w); /* takes the stale session over */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_commit_on_close),
		T(test_growing),
		T(test_last_close),
		T(test_killed),
		T(test_exit_closes),
		T(test_stale_is_hidden),
		T(test_rename_publishes),
		T(test_directory),
		T(test_failed_open),
		T(test_refusals),
		T(test_bad_directory),
		T(test_status),
		T(test_deadlock),
		cmocka_unit_test_setup_teardown(test_implicit_steps, setup_serve, teardown),
		cmocka_unit_test_setup_teardown(test_implicit_failure, setup_serve, teardown),
		T(test_driver_gone),
		T(test_killed_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
