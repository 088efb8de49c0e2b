/* Waiting: for an object or file to be written, for all tasks, for fewer of them. */
#include "task/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_over(const struct leat_tasks *t, const struct leat_task_waiter *w)
{
	if (w->version)
		return !w->version->writer;
	return w->space ? t->n_live <= t->max_live / 2 : t->n_live == 0;
}

/* A task that waits gives its computing units back, so that what it waits for finds some. It gets
 * none when it goes on: for the rest of it one more thread runs than there are units. */
static void step_aside(struct leat_tasks *t, struct leat_task *task)
{
	leat_tasks_sched_pause(t, task);
	task->worker->pool->n_blocked++;
	t->n_running--;
}

static void go_on(struct leat_tasks *t, struct leat_task *task)
{
	task->worker->pool->n_blocked--;
	t->n_running++;
}

static void wait_for(struct leat_tasks *t, struct leat_task_waiter *w)
{
	struct leat_task_waiter **link = &t->waiters;

	pthread_cond_init(&w->wake, NULL);
	w->next = t->waiters;
	t->waiters = w;
	t->n_waiting++;
	if (w->task)
		step_aside(t, w->task);
	leat_tasks_sched_next(t);
	leat_pool_wake(t, NULL);
	leat_tasks_unlock(t);
	leat_tasks_lock(t);
	while (!is_over(t, w))
		pthread_cond_wait(&w->wake, &t->lock);
	if (w->task)
		go_on(t, w->task);
	t->n_waiting--;
	while (*link != w)
		link = &(*link)->next;
	*link = w->next;
	pthread_cond_destroy(&w->wake);
}

/* May the task wait for this version, or would it for ever? */
static int check_task(struct leat_tasks *t, struct leat_task *task,
		      const struct leat_version *version, const char *what)
{
	if (task->kind->constraints.io)
		return leat_tasks_set_error(
			-EDEADLK,
			"task %s (number %llu): an I/O task cannot wait for others: it "
			"would hold bandwidth of its device meanwhile",
			task->kind->name, (unsigned long long)task->number);
	if (!leat_graph_reaches(t, task, version))
		return 0;
	return leat_tasks_set_error(
		-EDEADLK,
		"task %s (number %llu) waits for itself: %s is written by task %s "
		"(number %llu), which "
		"cannot begin or end before it",
		task->kind->name, (unsigned long long)task->number, what,
		version->writer->kind->name, (unsigned long long)version->writer->number);
}

/* `version` is counted for the caller. */
static int wait_version(struct leat_tasks *t, struct leat_version *version, const char *what)
{
	struct leat_worker *worker = leat_tasks_self();
	struct leat_task *task = worker && worker->tasks == t ? worker->task : NULL;
	int ret = 0;

	if (version->writer && task)
		ret = check_task(t, task, version, what);
	if (ret == 0 && version->writer) {
		struct leat_task_waiter w = {.version = version, .task = task};

		version->watched = true;
		wait_for(t, &w);
	}
	if (ret == 0 && version->failure)
		ret = leat_tasks_report_failure(version->failure, 0, 0);
	return ret;
}

int leat_task_wait_on(struct leat_task_object *object, const void **data, size_t *size)
{
	struct leat_tasks *t = leat_tasks_current();
	struct leat_version *version;
	int ret;

	if (!t)
		return -EINVAL;
	if (!object)
		return leat_tasks_set_error(-EINVAL, "no object to wait for");
	leat_tasks_lock(t);
	version = object->now;
	version->refs++;
	ret = wait_version(t, version, "the object");
	if (ret == 0 && data && leat_version_fill(version) < 0)
		ret = leat_tasks_set_error(-ENOMEM, "out of memory for an object of %zu bytes",
					   version->size);
	if (ret == 0 && data)
		*data = version->buffer ? version->buffer->bytes : NULL;
	if (ret == 0 && size)
		*size = version->size;
	leat_version_unref(t, version);
	leat_tasks_unlock(t);
	return ret;
}

int leat_task_wait_on_file(const char *path)
{
	struct leat_tasks *t = leat_tasks_current();
	struct leat_task_file *file;
	char *real;
	int ret = 0;

	if (!t)
		return -EINVAL;
	real = path ? leat_path_real(path) : NULL;
	if (!real)
		return leat_tasks_set_error(path ? -errno : -EINVAL, "%s: %s",
					    path ? path : "no file",
					    path ? strerror(errno) : "nothing to wait for");
	leat_tasks_lock(t);
	file = leat_file_find(t, real, false);
	if (file) {
		struct leat_version *version = file->now;

		version->refs++;
		ret = wait_version(t, version, real);
		leat_version_unref(t, version);
	}
	leat_tasks_unlock(t);
	free(real);
	return ret;
}

void leat_wait_space(struct leat_tasks *t)
{
	struct leat_task_waiter w = {.space = true};
	struct leat_worker *worker = leat_tasks_self();

	if (t->max_live == 0 || t->n_live < t->max_live || (worker && worker->tasks == t))
		return;
	t->n_throttled++;
	wait_for(t, &w);
	t->n_throttled--;
}

int leat_wait_all(struct leat_tasks *t)
{
	struct leat_task_waiter w = {0};
	int ret = 0;

	leat_tasks_sched_barrier(t);
	if (t->n_live > 0)
		wait_for(t, &w);
	if (t->first_failure)
		ret = leat_tasks_report_failure(t->first_failure, t->n_failed - 1, t->n_cancelled);
	leat_failure_unref(t->first_failure);
	t->first_failure = NULL;
	t->n_failed = t->n_cancelled = 0;
	return ret;
}

int leat_task_barrier(void)
{
	struct leat_tasks *t = leat_tasks_current();
	struct leat_worker *worker = leat_tasks_self();
	int ret;

	if (!t)
		return -EINVAL;
	if (worker && worker->tasks == t)
		return leat_tasks_set_error(
			-EDEADLK,
			"task %s (number %llu) waits for itself: a task cannot wait for "
			"all tasks; leat_task_wait_on waits for some",
			worker->task->kind->name, (unsigned long long)worker->task->number);
	leat_tasks_lock(t);
	ret = leat_wait_all(t);
	leat_tasks_unlock(t);
	return ret;
}
