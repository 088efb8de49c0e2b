#include "peer.h"

#include "store/remove.h"
#include "stream/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- speaking ---- */

static void put_aside(struct peer *p)
{
	const struct leat_msg_text *m = (const struct leat_msg_text *)(const void *)p->buf;

	snprintf(p->event, sizeof(p->event), "%s", leat_wire_string(m, sizeof(*m), 0));
	p->event_error = m->error;
}

void *peer_receive(struct peer *p, enum leat_msg_type type, size_t fixed)
{
	struct leat_msg *h = (struct leat_msg *)(void *)p->buf;
	ssize_t n;

	do {
		n = recv(p->fd, p->buf, sizeof(p->buf), 0);
		assert_true(n > 0);
		assert_int_equal(leat_wire_check(p->buf, (size_t)n, sizeof(*h)), 0);
		if (h->type == LEAT_MSG_EVENT)
			put_aside(p);
	} while (h->type == LEAT_MSG_EVENT && type != LEAT_MSG_EVENT);
	assert_int_equal(h->type, type);
	assert_int_equal(leat_wire_check(p->buf, (size_t)n, fixed), 0);
	return p->buf;
}

void peer_say(struct peer *p)
{
	struct leat_msg *h = (struct leat_msg *)(void *)p->buf;

	assert_int_equal(send(p->fd, p->buf, h->size, MSG_NOSIGNAL), (int)h->size);
}

void peer_dial(struct world *w, struct peer *p)
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

int peer_take_welcome(struct peer *p)
{
	struct leat_msg_welcome *welcome = (struct leat_msg_welcome *)(void *)p->buf;
	char space[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec io = {p->buf, sizeof(p->buf)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	int fds[2];

	assert_true(recvmsg(p->fd, &msg, 0) > 0);
	if (welcome->error)
		return welcome->error;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fds));
	p->store_fd = fds[0];
	p->shm_fd = fds[1];
	assert_int_equal(leat_shm_map(p->shm_fd, &p->shm), 0);
	return 0;
}

int peer_hello(struct peer *p, const char *step, const char *workflow, unsigned control)
{
	struct leat_msg_hello *m = leat_wire_begin(p->buf, LEAT_MSG_HELLO, sizeof(*m));

	m->control = control;
	leat_wire_put(m, step);
	leat_wire_put(m, workflow);
	leat_wire_put(m, "test");
	peer_say(p);
	return peer_take_welcome(p);
}

void peer_meet(struct world *w, struct peer *p, const char *step)
{
	peer_dial(w, p);
	assert_int_equal(peer_hello(p, step, "", 0), 0);
}

void peer_part(struct peer *p)
{
	leat_shm_unmap(p->shm);
	close(p->shm_fd);
	close(p->store_fd);
	close(p->fd);
}

void peer_free(struct peer *p)
{
	peer_part(p);
	free(p);
}

const struct leat_msg_resolved *peer_resolve(struct peer *p, enum leat_op op, const char *path,
					     unsigned flags)
{
	struct leat_msg_resolve *m = leat_wire_begin(p->buf, LEAT_MSG_RESOLVE, sizeof(*m));

	m->op = op;
	m->flags = flags;
	m->mode = 0644;
	leat_wire_put(m, path);
	peer_say(p);
	return peer_receive(p, LEAT_MSG_RESOLVED, sizeof(struct leat_msg_resolved));
}

const char *peer_path(const struct leat_msg_resolved *m)
{
	return leat_wire_string(m, sizeof(*m), 0);
}

void peer_report(struct peer *p, const struct leat_msg *report)
{
	const size_t head = sizeof(*report),
		     size = leat_wire_fixed_size((enum leat_msg_type)report->type);

	leat_wire_begin(p->buf, (enum leat_msg_type)report->type, size);
	memcpy(p->buf + head, (const char *)report + head, size - head);
	peer_say(p);
}

void peer_closed(struct peer *p, unsigned slot, uint64_t ofd)
{
	const struct leat_msg_closed m = {.h.type = LEAT_MSG_CLOSED, .slot = slot, .ofd = ofd};

	peer_report(p, &m.h);
}

/* A question without strings; the error answered. */
static int ask(struct peer *p, const struct leat_msg *question)
{
	const struct leat_msg_answer *answer;

	peer_report(p, question);
	answer = peer_receive(p, LEAT_MSG_ANSWER, sizeof(*answer));
	return answer->error;
}

int peer_ask_read(struct peer *p, unsigned slot, uint64_t offset, uint64_t length)
{
	const struct leat_msg_ask_read m = {
		.h.type = LEAT_MSG_ASK_READ, .slot = slot, .offset = offset, .length = length};

	return ask(p, &m.h);
}

int peer_ask_whole(struct peer *p, unsigned slot)
{
	const struct leat_msg_ask_whole m = {.h.type = LEAT_MSG_ASK_WHOLE, .slot = slot};

	return ask(p, &m.h);
}

int peer_ask_write(struct peer *p, unsigned slot)
{
	const struct leat_msg_ask_write m = {.h.type = LEAT_MSG_ASK_WRITE, .slot = slot};

	return ask(p, &m.h);
}

int peer_ask_space(struct peer *p, unsigned slot, uint64_t attempt, uint64_t length)
{
	const struct leat_msg_ask_space m = {
		.h.type = LEAT_MSG_ASK_SPACE, .slot = slot, .attempt = attempt, .length = length};

	return ask(p, &m.h);
}

int peer_ask_launch(struct peer *p, unsigned step)
{
	const struct leat_msg_ask_launch m = {.h.type = LEAT_MSG_ASK_LAUNCH, .step = step};

	return ask(p, &m.h);
}

int peer_list(struct peer *p, const char *path, uint64_t *handle, uint64_t *cookie, char *out,
	      size_t size)
{
	struct leat_msg_list *m = leat_wire_begin(p->buf, LEAT_MSG_LIST, sizeof(*m));
	const struct leat_msg_names *n;
	const char *at;

	m->handle = *handle;
	m->cookie = *cookie;
	leat_wire_put(m, path);
	peer_say(p);
	n = peer_receive(p, LEAT_MSG_NAMES, sizeof(*n));
	*out = 0;
	if (n->error)
		return n->error;
	at = (const char *)n + sizeof(*n);
	for (unsigned i = 0; i < n->count; i++) {
		at += sizeof(uint64_t) + 1;
		if (*at != '.')
			snprintf(out + strlen(out), size - strlen(out), "%s ", at);
		at += strlen(at) + 1;
	}
	*handle = n->handle;
	*cookie = n->cookie;
	return 0;
}

int peer_change(struct peer *p, enum leat_change change, const char *a, const char *b)
{
	struct leat_msg_change *m = leat_wire_begin(p->buf, LEAT_MSG_CHANGE, sizeof(*m));

	m->change = change;
	leat_wire_put(m, a);
	leat_wire_put(m, b);
	peer_say(p);
	return ((struct leat_msg_answer *)peer_receive(p, LEAT_MSG_ANSWER,
						       sizeof(struct leat_msg_answer)))
		->error;
}

int world_step(struct world *w, enum leat_msg_type type, const char *step, int status)
{
	struct leat_msg_step *m = leat_wire_begin(w->control.buf, type, sizeof(*m));

	m->status = status;
	leat_wire_put(m, step);
	leat_wire_put(m, "");
	peer_say(&w->control);
	return ((struct leat_msg_answer *)peer_receive(&w->control, LEAT_MSG_ANSWER,
						       sizeof(struct leat_msg_answer)))
		->error;
}

void world_meet_both(struct world *w, struct peer *a, struct peer *b)
{
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, a, "A");
	peer_meet(w, b, "B");
}

void peer_exiting(struct peer *p, int status)
{
	struct leat_msg_step *m = leat_wire_begin(p->buf, LEAT_MSG_EXITING, sizeof(*m));

	m->status = status;
	leat_wire_put(m, "");
	leat_wire_put(m, "");
	peer_say(p);
}

const char *world_event(struct world *w, int *error)
{
	if (!*w->control.event)
		peer_receive(&w->control, LEAT_MSG_EVENT, sizeof(struct leat_msg_text));
	*error = w->control.event_error;
	return w->control.event;
}

char *world_text(struct world *w, enum leat_msg_type type, int *error)
{
	struct leat_msg_text *m;
	char *text = calloc(1, 1);
	unsigned more;

	leat_wire_begin(w->control.buf, type, sizeof(*m));
	peer_say(&w->control);
	do {
		const char *part;

		m = peer_receive(&w->control, LEAT_MSG_TEXT, sizeof(*m));
		part = leat_wire_string(m, sizeof(*m), 0);
		text = realloc(text, strlen(text) + strlen(part) + 1);
		strcat(text, part);
		more = m->more;
		*error = m->error;
	} while (more);
	return text;
}

/* ---- doing ---- */

static int lock_byte(int fd, uint64_t ofd)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)(LEAT_OFD_LOCK + ofd),
			     .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock);
}

int peer_try_open(struct world *w, struct peer *p, const char *path, unsigned flags, struct file *f)
{
	const struct leat_msg_resolved *m = peer_resolve(p, LEAT_OP_OPEN, path, flags);

	*f = (struct file){.fd = -1, .slot = m->slot, .ofd = m->ofd, .kind = m->kind};
	if (m->error)
		return m->error;
	f->fd = openat(m->location == LEAT_LOCATION_STORE ? p->store_fd : w->dir_fd, peer_path(m),
		       (int)m->flags, 0644);
	assert_true(f->fd >= 0);
	if (f->ofd)
		assert_int_equal(lock_byte(f->fd, f->ofd), 0);
	return 0;
}

struct file peer_open(struct world *w, struct peer *p, const char *path, unsigned flags)
{
	struct file f;
	int rc = -EAGAIN;

	/* What another connection told just before may not have been heard yet. */
	for (int i = 0; i < 2000 && rc == -EAGAIN; i++) {
		if (i)
			usleep(1000);
		rc = peer_try_open(w, p, path, flags, &f);
	}
	assert_int_equal(rc, 0);
	return f;
}

void peer_write(struct file *f, const char *text)
{
	assert_int_equal(write(f->fd, text, strlen(text)), (int)strlen(text));
}

void peer_close(struct peer *p, struct file *f)
{
	close(f->fd);
	if (f->ofd)
		peer_closed(p, f->slot, f->ofd);
}

void peer_make(struct world *w, struct peer *p, const char *path, const char *text)
{
	struct file f = peer_open(w, p, path, O_WRONLY | O_CREAT | O_TRUNC);

	peer_write(&f, text);
	peer_close(p, &f);
}

void world_check_disk(struct world *w, const char *path, const char *text)
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

void world_start(struct world *w)
{
	char error[512] = "";

	if (leat_daemon_spawn(&w->options, &w->pid, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	peer_dial(w, &w->control);
	assert_int_equal(peer_hello(&w->control, "", "", LEAT_CONTROL | LEAT_CONTROL_EVENTS), 0);
}

static void setup(void **state, struct leat_workflow *wf, bool serve, uint64_t memory_bytes)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->base, "/tmp/leat-test-daemon-XXXXXX");
	assert_non_null(mkdtemp(w->base));
	snprintf(w->dir, sizeof(w->dir), "%s/dir", w->base);
	snprintf(w->runtime, sizeof(w->runtime), "%s/run", w->base);
	snprintf(w->log, sizeof(w->log), "%s/log", w->base);
	assert_int_equal(mkdir(w->dir, 0755), 0);
	w->dir_fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->wf = wf;
	w->options = (struct leat_daemon_options){.wf = w->wf,
						  .dir = w->dir,
						  .runtime_dir = w->runtime,
						  .log_path = w->log,
						  .memory_bytes = memory_bytes,
						  .serve = serve};
	world_start(w);
	*state = w;
}

void world_setup(void **state, struct leat_workflow *wf, bool serve)
{
	setup(state, wf, serve, 64 << 20);
}

void world_setup_small(void **state, struct leat_workflow *wf, uint64_t memory_bytes)
{
	setup(state, wf, false, memory_bytes);
}

void world_finish(struct world *w, bool ok)
{
	int error, status;
	char *text = world_text(w, LEAT_MSG_FINISH, &error);

	if ((strstr(text, "\"ok\": true") != NULL) != ok)
		fail_msg("%s", text);
	assert_int_equal(error == 0, ok);
	free(text);
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_int_equal(status, 0);
	w->pid = 0;
}

/* Whatever happened: the rules alone come to the same decisions. */
static void check_log(struct world *w)
{
	struct leat_replay_result result;
	struct leat_matcher *m = leat_matcher_new(w->wf);
	FILE *in = fopen(w->log, "r");

	assert_non_null(m);
	assert_non_null(in);
	/* nothing happened at all */
	if (fgetc(in) == EOF) {
		fclose(in);
		leat_matcher_free(m);
		return;
	}
	rewind(in);
	assert_int_equal(leat_replay(m, w->wf, in, stderr, &result), 0);
	assert_int_equal(result.differences, 0);
	fclose(in);
	leat_matcher_free(m);
}

int world_teardown(void **state)
{
	struct world *w = *state;
	int left;

	if (w->pid) {
		kill(w->pid, SIGTERM);
		waitpid(w->pid, NULL, 0);
	}
	peer_part(&w->control);
	/* whatever the end was: nothing of the session stays */
	left = rmdir(w->runtime);
	close(w->dir_fd);
	check_log(w);
	leat_workflow_free(w->wf);
	leat_remove_tree(AT_FDCWD, w->base);
	free(w);
	return left;
}

void world_in_process(struct world *w, const char *step,
		      void (*body)(struct world *, struct peer *), bool announce, int how)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct peer *p = calloc(1, sizeof(*p));

		peer_meet(w, p, step);
		body(w, p);
		if (announce)
			peer_exiting(p, how);
		if (how < 0)
			raise(-how);
		_exit(how);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
}

void write_mid(struct world *w, struct peer *p)
{
	struct file f = peer_open(w, p, "mid", O_WRONLY | O_CREAT | O_TRUNC);

	peer_write(&f, "partial");
}

void write_final(struct world *w, struct peer *p)
{
	struct file f;
	const struct leat_msg_resolved *m;

	/* as in a batch, the directory has to be made first */
	assert_int_equal(peer_try_open(w, p, "out/final", O_WRONLY | O_CREAT, &f), -ENOENT);
	m = peer_resolve(p, LEAT_OP_MKDIR, "out", 0);
	assert_int_equal(m->error, 0);
	assert_int_equal(mkdirat(p->store_fd, peer_path(m), 0755), 0);
	peer_make(w, p, "out/final", "result");
}

struct leat_workflow *world_flow(void)
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
