/* What a task costs: empty tasks a second with and without dependencies, memory for each that is
 * live, and what renaming objects is worth to computing beside slow I/O. One line each.
 *
 *     bench_tasks [TASKS [BAR]]     with BAR: 1 if the tasks of "graph" are fewer a second */
#include "bench.h"

#include <leat/task.h>

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { OBJECTS = 64, STEPS = 40, BLOCK_BYTES = 4 << 20, STEP_MS = 4, WRITE_MS = 16 };

static void check(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s\n", leat_task_error());
	exit(1);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long resident_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int nothing(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	(void)args;
	return 0;
}

enum shape { FREE, CHAIN, GRAPH };

static void submit(const struct leat_task_kind *kind, enum shape shape, int i,
		   struct leat_task_object **objects)
{
	switch (shape) {
	case FREE:
		check(leat_task_submit(kind, NULL, 0));
		break;
	case CHAIN:
		check(leat_submit(kind, leat_inout(objects[0])));
		break;
	case GRAPH:
		check(leat_submit(kind, leat_in(objects[(i + 7) % OBJECTS]),
				  leat_inout(objects[i % OBJECTS])));
		break;
	}
}

/* Tasks a second, of `n`, at most `max_tasks` (0: any number) live. */
static double rate(const char *name, enum shape shape, int n, size_t max_tasks)
{
	const struct leat_task_options options = {.max_tasks = max_tasks};
	const struct leat_task_kind *kind = leat_task_register("nothing", nothing, NULL);
	struct leat_task_object *objects[OBJECTS];
	double begin, took;

	check(leat_task_init(&options));
	for (int i = 0; i < OBJECTS; i++)
		objects[i] = leat_task_object_new(8);
	begin = now_s();
	for (int i = 0; i < n; i++)
		submit(kind, shape, i, objects);
	check(leat_barrier());
	took = now_s() - begin;
	check(leat_task_finalize());
	printf("%-28s %10.0f tasks/s, peak %ld MB\n", name, n / took, resident_kb() / 1024);
	return n / took;
}

static int hold(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	(void)args;
	usleep(200000);
	return 0;
}

/* Memory of tasks that all wait for one. */
static void live(int n)
{
	const struct leat_task_kind *kind = leat_task_register("nothing", nothing, NULL);
	struct leat_task_object *gate, *object;
	long before;

	check(leat_task_init(NULL));
	gate = leat_task_object_new(8);
	object = leat_task_object_new(8);
	before = resident_kb();
	check(leat_submit(leat_task_register("hold", hold, NULL), leat_out(gate)));
	for (int i = 0; i < n; i++)
		check(leat_submit(kind, leat_in(gate), leat_inout(object)));
	printf("%-28s %10.0f bytes each, %d live\n", "memory of a task",
	       (double)(resident_kb() - before) * 1024 / n, n);
	check(leat_task_finalize());
}

static int step(struct leat_task *task, const struct leat_task_arg *args)
{
	double until = now_s() + STEP_MS / 1e3;

	(void)task;
	while (now_s() < until)
		((char *)args[0].data)[0]++;
	return 0;
}

static int slow_write(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	(void)args;
	usleep(WRITE_MS * 1000);
	return 0;
}

/* Steps that change an object, each of whose contents is also written; what `copies_bytes` forbids
 * waits for the writing. */
static void overlap(const char *name, size_t copies_bytes)
{
	const struct leat_task_options options = {.copies_bytes = copies_bytes};
	const struct leat_task_kind *stepping = leat_task_register("step", step, NULL);
	const struct leat_task_kind *writing = leat_task_register(
		"slow_write", slow_write, &(struct leat_task_constraints){.io = true});
	struct leat_task_object *object;
	double begin;

	check(leat_task_init(&options));
	object = leat_task_object_new(BLOCK_BYTES);
	begin = now_s();
	for (int i = 0; i < STEPS; i++) {
		check(leat_submit(stepping, leat_inout(object)));
		check(leat_submit(writing, leat_in(object)));
	}
	check(leat_barrier());
	printf("%-28s %10.3f s\n", name, now_s() - begin);
	check(leat_task_finalize());
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)bench_size_parse(argv[1]) : 1000000;
	double bar = argc > 2 ? (double)bench_size_parse(argv[2]) : 0, graph;

	live(n < 100000 ? n : 100000);
	rate("independent, window 10,000", FREE, n, 10000);
	graph = rate("graph, window 10,000", GRAPH, n, 10000);
	rate("chain, window 10,000", CHAIN, n, 10000);
	rate("graph, all live", GRAPH, n, 0);
	overlap("steps beside I/O, renaming", 0);
	overlap("steps beside I/O, waiting", 1);
	return graph < bar;
}
