/* Beginning and end of the run time. */
#include "task/runtime.h"
#include "base/cgroup.h"
#include "base/clock.h"
#include "task/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void destroy(struct leat_tasks *t)
{
	leat_data_release(t);
	leat_failure_unref(t->first_failure);
	leat_tasks_sched_release(t);
	pthread_mutex_lock(&t->lock);
	leat_tasks_unlock(t);
	leat_slab_release(&t->tasks);
	leat_slab_release(&t->large_tasks);
	leat_slab_release(&t->edges);
	leat_slab_release(&t->versions);
	pthread_mutex_destroy(&t->lock);
	free(t->report);
	free(t);
}

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static size_t an_eighth_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t bytes =
		pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_C(1) << 31;
	uint64_t limit = LEAT_NO_LIMIT;
	struct leat_cgroup *group;
	char file[PATH_MAX];

	if (leat_cgroup_open("", 0, &group) == 0) {
		limit = leat_cgroup_memory_limit(group, file);
		leat_cgroup_close(group);
	}
	return (size_t)(limit < bytes ? limit : bytes) / 8;
}

static int create(const struct leat_task_options *o, struct leat_tasks **out)
{
	const char *report = o->report ? o->report : getenv("LEAT_TASK_REPORT");
	struct leat_tasks *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return leat_tasks_set_error(-ENOMEM, "out of memory");
	init_lock(&t->lock);
	leat_slab_init(&t->tasks,
		       sizeof(struct leat_task) + LEAT_FEW_SLOTS * sizeof(struct leat_slot));
	leat_slab_init(&t->large_tasks,
		       sizeof(struct leat_task) + LEAT_MANY_SLOTS * sizeof(struct leat_slot));
	leat_slab_init(&t->edges, sizeof(struct leat_edge));
	leat_slab_init(&t->versions, sizeof(struct leat_version));
	t->max_copies_bytes = o->copies_bytes ? o->copies_bytes : an_eighth_of_memory();
	t->max_live = o->max_tasks;
	t->started_ns = leat_clock_ns();
	if (report && *report) {
		t->report = strdup(report);
		if (!t->report) {
			destroy(t);
			return leat_tasks_set_error(-ENOMEM, "out of memory");
		}
	}
	ret = leat_tasks_sched_init(t, o);
	if (ret < 0) {
		destroy(t);
		return ret;
	}
	t->pools[LEAT_POOL_COMPUTE].max_workers = t->resources->hosts[0].computing_units;
	t->pools[LEAT_POOL_IO].max_workers = t->resources->hosts[0].io_executors;
	*out = t;
	return 0;
}

int leat_task_init(const struct leat_task_options *options)
{
	const struct leat_task_options none = {0};
	int ret;

	pthread_mutex_lock(&starting);
	if (leat_tasks_running)
		ret = leat_tasks_set_error(-EALREADY, "the run time of tasks is there already");
	else
		ret = create(options ? options : &none, &leat_tasks_running);
	pthread_mutex_unlock(&starting);
	return ret;
}

int leat_task_finalize(void)
{
	struct leat_tasks *t = leat_tasks_current();
	int ret, written = 0;

	if (!t)
		return -EINVAL;
	if (leat_tasks_self())
		return leat_tasks_set_error(-EDEADLK, "a task cannot end the run time it runs in");
	leat_tasks_lock(t);
	ret = leat_wait_all(t);
	leat_tasks_unlock(t);
	leat_pool_stop(t);
	if (t->report)
		written = leat_tasks_report(t, t->report, ret < 0);
	leat_tasks_running = NULL;
	destroy(t);
	return ret < 0 ? ret : written;
}
