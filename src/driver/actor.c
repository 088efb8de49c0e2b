#include "driver/actor.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "driver/actions.h"
#include "driver/start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utlist.h>

#define NS_PER_S UINT64_C(1000000000)

/* An event that is due. */
struct due {
	struct due *next;
	struct leat_msg_act act; /* with its strings behind it */
};

struct leat_driver_actor {
	size_t step;
	uint32_t rank;
	struct leat_driver_process process; /* pid 0: not started, or reaped */
	struct leat_pump out, err;
	int fd;
	uv_poll_t *poll; /* owned by the loop until it has closed it */
	struct leat_driver *d;
	struct due *queue;
	bool busy; /* with the first of the queue, until: */
	uint64_t deadline_ns;
	bool waits;          /* for a broadcast of rank 0 */
	unsigned broadcasts; /* it has called for */
	bool known;          /* what it wants: */
	uint32_t wants;      /* bit 1 << act */
	bool failed;
	struct leat_driver_actor *next;
};

static const struct leat_step *model_of(const struct leat_driver_actor *a)
{
	return &a->d->wf->steps[a->step];
}

static struct leat_driver_actor *find(const struct leat_driver *d, size_t step, uint32_t rank)
{
	struct leat_driver_actor *a;

	LL_FOREACH(d->actors, a)
	if (a->step == step && a->rank == rank)
		return a;
	return NULL;
}

static struct leat_driver_actor *get(struct leat_driver *d, size_t step, uint32_t rank)
{
	struct leat_driver_actor *a = find(d, step, rank);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	*a = (struct leat_driver_actor){.step = step, .rank = rank, .fd = -1, .d = d};
	a->process = (struct leat_driver_process){0, -1, -1, -1, -1};
	LL_APPEND(d->actors, a);
	return a;
}

/* ---- the end of one ---- */

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

/* It ends when it finds that nobody calls it any more. */
static void close_connection(struct leat_driver_actor *a)
{
	struct due *due;

	if (a->poll)
		uv_close((uv_handle_t *)a->poll, on_closed);
	a->poll = NULL;
	leat_close(&a->fd);
	while ((due = a->queue)) {
		LL_DELETE(a->queue, due);
		free(due);
	}
	a->busy = a->waits = false;
}

/* Who waits at its side for a call to come back learns of it. */
static void report_daemon(struct leat_driver_actor *a, const struct leat_msg_acted *m)
{
	if (a->d->control_lost)
		return;
	if (leat_control_is_lost(leat_control_acted(a->d->config->control, m)))
		leat_driver_lose_daemon(a->d);
}

static void fail(struct leat_driver_actor *a, const char *why)
{
	const struct leat_step *model = model_of(a);
	char rank[32] = "", buf[1024];
	struct leat_msg_acted *m = (struct leat_msg_acted *)(void *)buf;
	char *text;

	if (a->failed)
		return;
	a->failed = true;
	if (model->nprocs > 1)
		snprintf(rank, sizeof(rank), " of rank %u", a->rank);
	text = leat_strf("its action %s (%s)%s failed: %s", model->action_function,
			 model->action_file, rank, why);
	leat_wire_begin(m, LEAT_MSG_ACTED, sizeof(*m));
	m->id = a->busy && a->queue ? a->queue->act.id : 0;
	m->step = (int32_t)a->step;
	m->rank = a->rank;
	m->error = -EIO;
	leat_wire_put_raw(m, text ? text : why, strnlen(text ? text : why, 900));
	leat_wire_put_raw(m, "", 1);
	report_daemon(a, m);
	close_connection(a);
	if (a->process.pid > 0)
		kill(-a->process.pid, SIGKILL);
	a->d->events->actions_failed(a->d, a->step, text ? text : why);
	free(text);
}

/* ---- start ---- */

static void on_readable(uv_poll_t *poll, int status, int events);

static int listen_to(struct leat_driver_actor *a)
{
	uv_poll_t *poll = calloc(1, sizeof(*poll));
	int result;

	if (!poll)
		return -ENOMEM;
	poll->data = a;
	result = uv_poll_init(&a->d->loop, poll, a->fd);
	if (result < 0) {
		free(poll);
		return result;
	}
	a->poll = poll;
	result = uv_poll_start(poll, UV_READABLE, on_readable);
	if (!result)
		result = leat_pump_open(a->d, &a->out, &a->process.out_fd, a->step, false);
	return result ? result : leat_pump_open(a->d, &a->err, &a->process.err_fd, a->step, true);
}

static char **environment_of(const struct leat_driver_actor *a)
{
	struct leat_environment_spec spec = leat_start_environment(a->d->config, a->step, NULL);

	spec.library = spec.tracer = spec.mount = spec.key = NULL;
	return leat_environment_new(&spec);
}

static int start(struct leat_driver_actor *a)
{
	const struct leat_step *model = model_of(a);
	char *file = leat_actions_path(a->d->wf, model->action_file);
	char *dir = model->dir ? leat_path_join(a->d->config->dir, model->dir)
			       : strdup(a->d->config->dir);
	char name[] = "leat-action", *argv[] = {name, file, model->action_function, NULL};
	char **envp = environment_of(a);
	struct leat_process_spec spec = {.program = a->d->config->action_command,
					 .argv = argv,
					 .envp = envp,
					 .dir = dir,
					 .own_group = true,
					 .capture = true};
	int ends[2] = {-1, -1};
	int result = file && dir && envp ? 0 : -ENOMEM;

	if (!result && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		result = -errno;
	spec.passed_fd = ends[1];
	if (!result)
		result = leat_driver_make_dir(a->d, a->step);
	if (!result)
		result = leat_process_fork(&spec, &a->process);
	if (!result)
		result = leat_process_release(&a->process);
	leat_close(&ends[1]);
	a->fd = ends[0];
	if (!result)
		result = listen_to(a);
	leat_environment_free(envp);
	free(dir);
	free(file);
	return result;
}

/* ---- calls ---- */

static int add(struct leat_driver_actor *a, const struct leat_msg_act *m)
{
	size_t more = m->h.size - sizeof(*m);
	struct due *due = malloc(sizeof(*due) + more);

	if (!due)
		return -ENOMEM;
	memcpy(&due->act, m, m->h.size);
	LL_APPEND(a->queue, due);
	a->d->look = true;
	return 0;
}

void leat_actors_act(struct leat_driver *d, const struct leat_msg_act *m)
{
	struct leat_driver_actor *a;

	if (m->step < 0 || (size_t)m->step >= d->wf->n_steps)
		return;
	a = get(d, (size_t)m->step, m->rank);
	if (a && a->failed)
		return; /* its step is on the way to its end */
	if (!a || add(a, m))
		leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "out of memory");
}

/* An event of the driver itself. */
static int add_own(struct leat_driver_actor *a, enum leat_act act, int status)
{
	char buf[sizeof(struct leat_msg_act) + 1];
	struct leat_msg_act *m = leat_wire_begin(buf, LEAT_MSG_ACT, sizeof(*m));

	m->step = (int32_t)a->step;
	m->rank = a->rank;
	m->act = act;
	m->status = status;
	leat_wire_put(m, "");
	return add(a, m);
}

static void call(struct leat_driver_actor *a)
{
	int result = a->fd < 0 ? start(a) : 0;

	if (!result && send(a->fd, &a->queue->act, a->queue->act.h.size, MSG_NOSIGNAL) < 0)
		result = -errno;
	a->busy = true;
	a->deadline_ns = leat_clock_ns() + a->d->config->action_timeout_s * NS_PER_S;
	if (result)
		fail(a, strerror(-result));
}

void leat_actors_run(struct leat_driver *d)
{
	struct leat_driver_actor *a;

	LL_FOREACH(d->actors, a)
	if (a->queue && !a->busy && !a->failed)
		call(a);
}

/* ---- answers ---- */

static void go_on(struct leat_driver_actor *a)
{
	char buf[sizeof(struct leat_msg_act) + 1];
	struct leat_msg_act *m = leat_wire_begin(buf, LEAT_MSG_ACT, sizeof(*m));

	m->act = LEAT_ACT_GO_ON;
	leat_wire_put(m, "");
	a->waits = false;
	a->deadline_ns = leat_clock_ns() + a->d->config->action_timeout_s * NS_PER_S;
	if (send(a->fd, m, m->h.size, MSG_NOSIGNAL) < 0)
		fail(a, strerror(errno));
}

static void broadcast(struct leat_driver_actor *a)
{
	const struct leat_driver_actor *root = get(a->d, a->step, 0);
	struct leat_driver_actor *other;

	a->broadcasts++;
	a->waits = true;
	LL_FOREACH(a->d->actors, other)
	if (root && other->step == a->step && other->waits &&
	    (!other->rank || other->broadcasts <= root->broadcasts))
		go_on(other);
}

static void finish_act(struct leat_driver_actor *a)
{
	struct due *due = a->queue;
	struct leat_run_step *s = &a->d->steps[a->step];
	enum leat_act act = (enum leat_act)due->act.act;

	LL_DELETE(a->queue, due);
	free(due);
	a->busy = false;
	if (act == LEAT_ACT_BEFORE_LAUNCH)
		s->acted = LEAT_ACTED_DONE;
	else if (act == LEAT_ACT_AFTER_EXIT)
		a->d->events->left(a->d, a->step);
	a->d->look = true;
}

static void take_answer(struct leat_driver_actor *a, const struct leat_msg_acted *m)
{
	const char *why = leat_wire_string(m, sizeof(*m), 0);

	if (m->error == -EAGAIN) {
		broadcast(a);
		return;
	}
	if (m->error) {
		fail(a, why ? why : "it gave no reason");
		return;
	}
	a->known = true;
	a->wants = m->wants;
	report_daemon(a, m);
	finish_act(a);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct leat_driver_actor *a = poll->data;
	struct leat_driver *d = a->d;
	static char buf[LEAT_WIRE_MAX];
	ssize_t n = status < 0 ? 0 : recv(a->fd, buf, sizeof(buf), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* How it has ended is known when it is reaped. */
	if (n <= 0)
		uv_poll_stop(poll);
	else if (leat_wire_check(buf, (size_t)n, sizeof(struct leat_msg_acted)) || !a->busy)
		fail(a, "it has sent something that is no answer");
	else
		take_answer(a, (const struct leat_msg_acted *)(void *)buf);
	d->events->changed(d);
}

/* ---- launches and ends of steps ---- */

static bool wants(const struct leat_driver_actor *a, enum leat_act act)
{
	return !a->known || a->wants & 1u << act;
}

enum leat_turn leat_actors_launch(struct leat_driver *d, size_t step)
{
	struct leat_run_step *s = &d->steps[step];
	struct leat_driver_actor *a;
	int result;

	if (!d->wf->steps[step].action_file || s->acted == LEAT_ACTED_DONE)
		return LEAT_TURN_NOW;
	if (s->acted == LEAT_ACTED_CALLED)
		return LEAT_TURN_LATER;
	a = get(d, step, 0);
	if (a && !wants(a, LEAT_ACT_BEFORE_LAUNCH))
		return LEAT_TURN_NOW;
	result = a ? add_own(a, LEAT_ACT_BEFORE_LAUNCH, 0) : -ENOMEM;
	s->acted = LEAT_ACTED_CALLED;
	return result ? LEAT_TURN_NEVER : LEAT_TURN_LATER;
}

bool leat_actors_exit(struct leat_driver *d, size_t step, int status)
{
	struct leat_driver_actor *a = find(d, step, 0);

	return a && !a->failed && d->config->control && !d->control_lost && a->known &&
	       wants(a, LEAT_ACT_AFTER_EXIT) && add_own(a, LEAT_ACT_AFTER_EXIT, status) == 0;
}

void leat_actors_tick(struct leat_driver *d)
{
	struct leat_driver_actor *a, *next;
	uint64_t now = leat_clock_ns();
	char why[80];

	snprintf(why, sizeof(why), "it did not come back for %u s", d->config->action_timeout_s);
	LL_FOREACH_SAFE(d->actors, a, next)
	{
		if (a->busy && !a->waits && now > a->deadline_ns)
			fail(a, why);
		else if (!a->queue && a->fd >= 0 &&
			 leat_driver_step_is_over(d->steps[a->step].state))
			close_connection(a);
	}
}

bool leat_actors_has(const struct leat_driver *d, pid_t pid)
{
	const struct leat_driver_actor *a;

	LL_FOREACH(d->actors, a)
	if (a->process.pid == pid)
		return true;
	return false;
}

static void close_pumps(struct leat_driver_actor *a)
{
	leat_pump_close(&a->out);
	leat_pump_close(&a->err);
	leat_process_close(&a->process);
}

static void handle_end(struct leat_driver_actor *a, int status)
{
	static char buf[LEAT_WIRE_MAX];
	char why[80];
	ssize_t n = a->busy ? recv(a->fd, buf, sizeof(buf), MSG_DONTWAIT) : -1;

	a->process.pid = 0;
	close_pumps(a);
	/* What it sent last may not have been received yet. */
	if (n > 0 && !leat_wire_check(buf, (size_t)n, sizeof(struct leat_msg_acted)))
		take_answer(a, (const struct leat_msg_acted *)(void *)buf);
	if (a->fd < 0 || a->failed)
		return;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "its process was killed by SIG%s",
			 sigabbrev_np(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "its process exited with status %d",
			 WEXITSTATUS(status));
	fail(a, why);
}

bool leat_actors_reap(struct leat_driver *d, pid_t pid, int status)
{
	struct leat_driver_actor *a;

	LL_FOREACH(d->actors, a)
	if (a->process.pid == pid) {
		handle_end(a, status);
		return true;
	}
	return false;
}

bool leat_actors_gone(const struct leat_driver *d)
{
	const struct leat_driver_actor *a;

	LL_FOREACH(d->actors, a)
	if (a->process.pid > 0)
		return false;
	return true;
}

void leat_actors_free(struct leat_driver *d)
{
	struct leat_driver_actor *a, *next;

	LL_FOREACH_SAFE(d->actors, a, next)
	{
		close_connection(a);
		if (a->process.pid > 0) {
			kill(-a->process.pid, SIGKILL);
			waitpid(a->process.pid, NULL, 0);
		}
		close_pumps(a);
		free(a);
	}
	d->actors = NULL;
}
