/* What may start when: resources, devices, and the scheduler, which decides. */
#include "task/runtime.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int leat_tasks_sched_init(struct leat_tasks *t, const struct leat_task_options *o)
{
	struct leat_host *host;
	int ret = leat_tasks_resources(o->resources ? o->resources : getenv("LEAT_RESOURCES"),
				       &t->resources);

	if (ret < 0)
		return ret;
	host = &t->resources->hosts[0];
	if (o->computing_units)
		host->computing_units = o->computing_units;
	if (o->io_executors)
		host->io_executors = o->io_executors;
	t->sched = leat_sched_new(t->resources);
	t->achieved = leat_achieved_new(leat_clock_ns(), LEAT_ACHIEVED_MOST);
	ret = t->sched && t->achieved ? 0 : -ENOMEM;
	for (size_t i = 0; ret == 0 && i < leat_sched_n_devices(t->sched); i++)
		ret = leat_achieved_add_device(t->achieved);
	return ret == 0 ? 0 : leat_tasks_set_error(ret, "out of memory");
}

void leat_tasks_sched_release(struct leat_tasks *t)
{
	for (unsigned i = 0; i < t->n_uses; i++)
		while (t->uses[i]) {
			struct leat_task_use *use = t->uses[i];

			t->uses[i] = use->next;
			free(use);
		}
	free(t->uses);
	leat_sched_free(t->sched);
	leat_achieved_free(t->achieved);
	leat_resources_free(t->resources);
}

/* --- what tasks of a kind do on a device --- */

static int find_device(struct leat_tasks *t, const struct leat_task_kind *kind, const char *path,
		       const struct leat_device **device)
{
	const char *name = kind->constraints.device;
	char cwd[PATH_MAX];

	*device = NULL;
	if (!kind->constraints.io)
		return 0;
	if (name) {
		*device = leat_resources_find_device(t->resources, 0, name);
		if (*device)
			return 0;
		return leat_tasks_set_error(-EINVAL,
					    "task %s: the resources have no storage device %s",
					    kind->name, name);
	}
	if (!path)
		path = getcwd(cwd, sizeof(cwd)) ? cwd : "/";
	*device = leat_resources_device_of(t->resources, 0, path);
	if (*device || kind->bandwidth.kind == LEAT_BANDWIDTH_NONE)
		return 0;
	return leat_tasks_set_error(
		-EINVAL,
		"task %s asks for bandwidth (%s) of the storage device with %s, which "
		"the resources do not describe; leat probe measures one, LEAT_RESOURCES "
		"names the file",
		kind->name, kind->constraints.storage_bw, path);
}

static int add_use(struct leat_tasks *t, const struct leat_task_kind *kind,
		   const struct leat_device *device, struct leat_task_use **out)
{
	struct leat_sched_task_type spec = {
		.name = kind->name,
		.io = kind->constraints.io,
		.computing_units = kind->constraints.io ? 0
				   : kind->constraints.computing_units
					   ? kind->constraints.computing_units
					   : 1,
		.device = device ? device->name : NULL,
		.bandwidth = kind->bandwidth,
	};
	struct leat_task_use *use = calloc(1, sizeof(*use));
	char why[LEAT_SCHED_WHY] = "";
	int ret;

	if (!use)
		return leat_tasks_set_error(-ENOMEM, "out of memory");
	ret = leat_sched_add_type(t->sched, &spec, &use->sched_type, why);
	if (ret < 0) {
		free(use);
		return leat_tasks_set_error(ret, "%s", ret == -ENOMEM ? "out of memory" : why);
	}
	ret = leat_achieved_add_type(t->achieved, use->sched_type,
				     leat_sched_device_number(t->sched, spec.device), spec.io,
				     leat_bandwidth_learns(&spec.bandwidth));
	if (ret < 0) {
		free(use);
		return leat_tasks_set_error(ret, "out of memory");
	}
	use->kind = kind;
	use->device = device;
	use->next = t->uses[kind->id];
	t->uses[kind->id] = use;
	*out = use;
	return 0;
}

static int grow_uses(struct leat_tasks *t, unsigned id)
{
	struct leat_task_use **more;

	if (id < t->n_uses)
		return 0;
	more = reallocarray(t->uses, id + 1, sizeof(struct leat_task_use *));
	if (!more)
		return leat_tasks_set_error(-ENOMEM, "out of memory");
	memset(more + t->n_uses, 0, (id + 1 - t->n_uses) * sizeof(struct leat_task_use *));
	t->uses = more;
	t->n_uses = id + 1;
	return 0;
}

int leat_tasks_sched_use(struct leat_tasks *t, const struct leat_task_kind *kind, const char *path,
			 struct leat_task_use **use)
{
	const struct leat_device *device;
	int ret = grow_uses(t, kind->id);

	if (ret == 0)
		ret = find_device(t, kind, path, &device);
	if (ret < 0)
		return ret;
	for (struct leat_task_use *u = t->uses[kind->id]; u; u = u->next)
		if (u->device == device) {
			*use = u;
			return 0;
		}
	return add_use(t, kind, device, use);
}

/* --- tasks --- */

void leat_tasks_sched_submit(struct leat_tasks *t, struct leat_task *task)
{
	task->sched.type = task->use->sched_type;
	task->sched.home = LEAT_SCHED_ANYWHERE;
	leat_sched_submit(t->sched, &task->sched);
}

int leat_tasks_sched_ready(struct leat_tasks *t, struct leat_task *task)
{
	return leat_sched_ready(t->sched, &task->sched);
}

void leat_tasks_sched_begin(struct leat_tasks *t, struct leat_task *task)
{
	struct leat_task_use *use = task->use;

	task->began_ns = leat_clock_ns();
	if (use->running++ == 0)
		use->since_ns = task->began_ns;
	leat_achieved_begin(t->achieved, use->sched_type, task->sched.constraint_mbps,
			    !task->sched.epoch, task->began_ns);
}

/* Its bytes are known now, and when it moved them is not. */
static void achieve(struct leat_tasks *t, const struct leat_task *task, uint64_t now, bool failed)
{
	unsigned kind = task->use->sched_type, mbps = task->sched.constraint_mbps;
	struct leat_achieved_bytes bytes = {.read = task->worker->read_bytes};

	bytes.written = task->io_bytes - bytes.read;
	if (!failed)
		leat_achieved_move(t->achieved, kind, mbps, task->began_ns, now, bytes);
	leat_achieved_end(t->achieved, kind, mbps, now, now - task->began_ns);
}

void leat_tasks_sched_end(struct leat_tasks *t, struct leat_task *task, bool failed)
{
	struct leat_task_use *use = task->use;
	uint64_t now = leat_clock_ns(), took = now - task->began_ns;

	t->n_running--;
	if (--use->running == 0)
		use->busy_ns += now - use->since_ns;
	use->task_ns += took;
	achieve(t, task, now, failed);
	if (failed) {
		use->n_failed++;
	} else {
		use->n_done++;
		use->bytes += task->io_bytes;
	}
	if (!task->released)
		leat_sched_ended(t->sched, &task->sched, now, took, failed);
}

void leat_tasks_sched_cancel(struct leat_tasks *t, struct leat_task *task)
{
	task->use->n_cancelled++;
	leat_sched_cancel(t->sched, &task->sched, leat_clock_ns());
}

void leat_tasks_sched_pause(struct leat_tasks *t, struct leat_task *task)
{
	uint64_t now = leat_clock_ns();

	if (!task->released)
		leat_sched_ended(t->sched, &task->sched, now, now - task->began_ns, false);
	task->released = true;
}

/* A thread of the pool is to run it. */
static void start(struct leat_tasks *t, struct leat_task *task)
{
	bool io = task->kind->constraints.io;

	leat_queue_put(&t->pools[io ? LEAT_POOL_IO : LEAT_POOL_COMPUTE].queue, task);
	task->state = LEAT_TASK_STARTED;
	t->n_running++;
}

static void start_all(struct leat_tasks *t, uint64_t now)
{
	struct leat_sched_task *next;

	while ((next = leat_sched_next(t->sched, now)))
		start(t, (struct leat_task *)((char *)next - offsetof(struct leat_task, sched)));
}

void leat_tasks_sched_next(struct leat_tasks *t)
{
	uint64_t now = leat_clock_ns();

	start_all(t, now);
	/* Whoever could submit what an epoch is short of may be among those who wait. */
	if (t->n_running == 0 && t->n_waiting > 0 && t->n_live > 0) {
		leat_sched_barrier(t->sched, now);
		start_all(t, now);
	}
}

void leat_tasks_sched_barrier(struct leat_tasks *t)
{
	leat_sched_barrier(t->sched, leat_clock_ns());
	leat_tasks_sched_next(t);
}
