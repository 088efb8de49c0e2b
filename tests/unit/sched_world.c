#include "sched_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct leat_resources *sim_resources(unsigned n, unsigned units, unsigned executors, unsigned mbps)
{
	struct leat_resources *res = leat_resources_new();

	assert_non_null(res);
	res->shared_dir = true;
	for (unsigned i = 0; i < n; i++) {
		char name[32];
		struct leat_host *host;

		snprintf(name, sizeof(name), "host%u", i);
		host = leat_resources_add_host(res, name);
		assert_non_null(host);
		host->computing_units = units;
		host->io_executors = executors;
		if (mbps) {
			struct leat_device *device = leat_host_add_device(host, "ssd");

			assert_non_null(device);
			device->bandwidth_mbps = mbps;
		}
	}
	return res;
}

static uint64_t one_second(const struct sim *sim, const struct sim_task *task)
{
	(void)sim;
	(void)task;
	return SECOND;
}

void sim_init(struct sim *sim, struct leat_resources *res)
{
	*sim = (struct sim){.res = res, .s = leat_sched_new(res), .took = one_second};
	assert_non_null(sim->s);
}

void sim_release(struct sim *sim)
{
	leat_sched_free(sim->s);
	leat_resources_free(sim->res);
	for (size_t i = 0; i < sim->n_all; i++)
		free(sim->all[i]);
	free(sim->all);
	free(sim->running);
}

unsigned sim_io_type(struct sim *sim, const char *name, const char *bandwidth)
{
	struct leat_sched_task_type spec = {.name = name, .io = true, .device = "ssd"};
	char why[LEAT_SCHED_WHY];
	unsigned type = 0;

	assert_int_equal(leat_bandwidth_parse(bandwidth, &spec.bandwidth, why), 0);
	assert_int_equal(leat_sched_add_type(sim->s, &spec, &type, why), 0);
	return type;
}

unsigned sim_compute_type(struct sim *sim, const char *name, unsigned units)
{
	struct leat_sched_task_type spec = {.name = name, .computing_units = units};
	char why[LEAT_SCHED_WHY];
	unsigned type = 0;

	assert_int_equal(leat_sched_add_type(sim->s, &spec, &type, why), 0);
	return type;
}

static void push(struct sim_task ***array, size_t *n, size_t *max, struct sim_task *task)
{
	if (*n == *max) {
		*max = *max ? 2 * *max : 64;
		*array = realloc(*array, *max * sizeof(**array));
		assert_non_null(*array);
	}
	(*array)[(*n)++] = task;
}

struct sim_task *sim_add(struct sim *sim, unsigned type, int home, size_t n)
{
	struct sim_task *task = NULL;

	for (size_t i = 0; i < n; i++) {
		task = calloc(1, sizeof(*task));
		assert_non_null(task);
		task->task.type = type;
		task->task.home = home;
		push(&sim->all, &sim->n_all, &sim->max_all, task);
		assert_int_equal(leat_sched_submit(sim->s, &task->task), 0);
		assert_int_equal(leat_sched_ready(sim->s, &task->task), 0);
	}
	return task;
}

size_t sim_start(struct sim *sim)
{
	struct leat_sched_task *next;
	size_t n = 0;

	while ((next = leat_sched_next(sim->s, sim->now_ns))) {
		struct sim_task *task = (struct sim_task *)(void *)next;

		task->began_ns = sim->now_ns;
		task->ends_ns = sim->now_ns + sim->took(sim, task);
		task->started = true;
		task->order = sim->starts++;
		push(&sim->running, &sim->n_running, &sim->max_running, task);
		if (sim->started)
			sim->started(sim, task);
		n++;
	}
	return n;
}

bool sim_step(struct sim *sim)
{
	size_t first = 0;
	struct sim_task *task;

	if (!sim->n_running)
		return false;
	for (size_t i = 1; i < sim->n_running; i++)
		if (sim->running[i]->ends_ns < sim->running[first]->ends_ns)
			first = i;
	task = sim->running[first];
	sim->running[first] = sim->running[--sim->n_running];
	sim->now_ns = task->ends_ns;
	assert_int_equal(leat_sched_ended(sim->s, &task->task, sim->now_ns,
					  task->ends_ns - task->began_ns, task->fails),
			 0);
	if (sim->ended)
		sim->ended(sim, task);
	sim_start(sim);
	return true;
}

void sim_run(struct sim *sim)
{
	sim_start(sim);
	while (sim_step(sim))
		continue;
}
