/* Decisions per second of the scheduler alone: tasks of several shapes are made ready, started and
 * ended, with so many live at a time.
 *
 *   bench_sched [TASKS]
 *
 * One line for each shape: decisions (tasks that were started) per second, and ns for one. */
#include "base/clock.h"
#include "sched/sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct shape {
	const char *name;
	unsigned hosts, types, live;
	bool io, learns, bound;
};

static const struct shape shapes[] = {
	{"compute, 1 host", 1, 1, 64, false, false, false},
	{"compute, 1 host, 32 types, 100000 live", 1, 32, 100000, false, false, false},
	{"static constraint, 1 host", 1, 1, 1000, true, false, false},
	{"static constraints, 1000 hosts, 8 types", 1000, 8, 10000, true, false, false},
	{"automatic, 12 hosts, 5 types", 12, 5, 10000, true, true, false},
	{"bound to 1000 hosts, 4 types", 1000, 4, 10000, true, false, true},
};

static struct leat_resources *make_resources(const struct shape *shape)
{
	struct leat_resources *res = leat_resources_new();

	for (unsigned h = 0; res && h < shape->hosts; h++) {
		char name[32];
		struct leat_host *host;
		struct leat_device *device;

		snprintf(name, sizeof(name), "host%u", h);
		host = leat_resources_add_host(res, name);
		device = host ? leat_host_add_device(host, "ssd") : NULL;
		if (!device) {
			leat_resources_free(res);
			return NULL;
		}
		host->computing_units = 48;
		host->io_executors = 225;
		device->bandwidth_mbps = 450;
	}
	if (res)
		res->shared_dir = !shape->bound;
	return res;
}

static int add_types(struct leat_sched *s, const struct shape *shape)
{
	char why[LEAT_SCHED_WHY] = "out of memory";
	int ret = 0;

	for (unsigned k = 0; !ret && k < shape->types; k++) {
		struct leat_sched_task_type spec = {
			.name = "type",
			.io = shape->io,
			.computing_units = shape->io ? 0 : 1 + k % 4,
			.device = shape->io ? "ssd" : NULL,
		};
		unsigned number;

		if (shape->learns)
			spec.bandwidth.kind = LEAT_BANDWIDTH_AUTO;
		else if (shape->io)
			spec.bandwidth =
				(struct leat_bandwidth){LEAT_BANDWIDTH_STATIC, 2 + k, 0, 0};
		ret = leat_sched_add_type(s, &spec, &number, why);
	}
	if (ret)
		fprintf(stderr, "bench_sched: %s\n", why);
	return ret;
}

/* Make a task ready that is new or has ended. */
static int offer(struct leat_sched *s, const struct shape *shape, struct leat_sched_task *task,
		 uint64_t number)
{
	int ret;

	task->type = (unsigned)(number % shape->types);
	task->home = shape->bound ? (int)(number * 7919 % shape->hosts) : LEAT_SCHED_ANYWHERE;
	ret = leat_sched_submit(s, task);
	return ret ? ret : leat_sched_ready(s, task);
}

/* Tasks end in the order in which they started, and take the longer the lower their constraint. */
static int run(struct leat_sched *s, const struct shape *shape, struct leat_sched_task *tasks,
	       struct leat_sched_task **running, uint64_t n)
{
	uint64_t offered = 0, started = 0, ended = 0;
	int ret = 0;

	while (!ret && offered < shape->live) {
		ret = offer(s, shape, &tasks[offered], offered);
		offered++;
	}
	while (!ret && ended < n) {
		struct leat_sched_task *task = leat_sched_next(s, ended);
		unsigned mbps;

		if (task) {
			running[started++ % shape->live] = task;
			continue;
		}
		task = running[ended++ % shape->live];
		mbps = task->constraint_mbps;
		ret = leat_sched_ended(s, task, ended, mbps ? 1000000000 / mbps : 1, false);
		if (!ret)
			ret = offer(s, shape, task, offered++);
	}
	return ret;
}

static int measure(const struct shape *shape, uint64_t n)
{
	struct leat_resources *res = make_resources(shape);
	struct leat_sched *s = res ? leat_sched_new(res) : NULL;
	struct leat_sched_task *tasks = calloc(shape->live, sizeof(*tasks));
	struct leat_sched_task **running = calloc(shape->live, sizeof(struct leat_sched_task *));
	int ret = s && tasks && running ? add_types(s, shape) : -1;
	uint64_t begin, took;

	if (!ret) {
		begin = leat_clock_ns();
		ret = run(s, shape, tasks, running, n);
		took = leat_clock_ns() - begin;
		if (!ret)
			printf("%-42s %10.0f /s %7.1f ns\n", shape->name,
			       (double)n * 1e9 / (double)took, (double)took / (double)n);
	}
	leat_sched_free(s);
	leat_resources_free(res);
	free(tasks);
	free(running);
	return ret;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		ret = measure(&shapes[i], n);
	return ret ? 1 : 0;
}
