/* How fast calls are set against tasks, and what that keeps in memory: a trace that is made up
 *while it is taken, of tasks that are work directories, each with so many processes and calls.
 *
 *	bench_maprate TASKS PROCESSES CALLS */
#include "bench.h"

#include "associate/associate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define BEGIN_NS (INT64_C(1663859640) * 1000000000)

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

static struct leat_associate_map *tasks_new(uint64_t n)
{
	char path[] = "/dev/shm/bench-maprate-XXXXXX";
	int fd = mkstemp(path);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	struct leat_associate_map *m = leat_associate_new(NULL);

	if (!out || !m)
		bench_die("cannot begin", path);
	for (uint64_t i = 0; i < n; i++)
		fprintf(out,
			"Sep-22 15:14:00.000 [Task monitor] DEBUG nextflow.Session - Task "
			"completed > "
			"TaskHandler[id: %" PRIu64 "; name: t (%" PRIu64
			"); status: COMPLETED; exit: 0; error: -; workDir: /w/%02" PRIx64
			"/%030" PRIx64 "]\n",
			i, i, i % 256, i);
	if (fclose(out) || leat_associate_read_log(m, path, &leat_associate_nextflow))
		bench_die("cannot read", path);
	unlink(path);
	return m;
}

static void take(struct leat_associate_map *m, const struct leat_trace_record *r)
{
	if (leat_associate_add(m, r, NULL))
		bench_die("out of memory", "");
}

/* The first process of a task reads its script; the calls go round all of them. */
static uint64_t play(struct leat_associate_map *m, uint64_t task, uint64_t processes,
		     uint64_t calls)
{
	int32_t first = (int32_t)(task * processes % 4000000 + 2);
	struct leat_trace_record fork = {.kind = LEAT_TRACE_PROCESS,
					 .process = {.time_ns = BEGIN_NS - 1000, .ppid = 1}};
	struct leat_trace_record call = {.kind = LEAT_TRACE_CALL,
					 .call = {.start_ns = BEGIN_NS, .pid = first}};
	char path[80];

	for (uint64_t i = 0; i < processes; i++) {
		fork.process.pid = first + (int32_t)i;
		fork.process.ppid = i ? first : 1;
		take(m, &fork);
	}
	snprintf(path, sizeof(path), "/w/%02" PRIx64 "/%030" PRIx64 "/.command.sh", task % 256,
		 task);
	for (uint64_t i = 0; i < calls; i++) {
		bool opens = i % 16 == 0;

		call.call.type = opens ? LEAT_TRACE_OPEN : LEAT_TRACE_READ;
		call.call.path = i == 0 ? path : opens ? "/data/some/file.txt" : NULL;
		call.call.pid = first + (int32_t)(i % processes);
		take(m, &call);
	}
	return calls;
}

int main(int argc, char **argv)
{
	uint64_t tasks = argc > 1 ? bench_size_parse(argv[1]) : 1000;
	uint64_t processes = argc > 2 ? bench_size_parse(argv[2]) : 10;
	uint64_t calls = argc > 3 ? bench_size_parse(argv[3]) : 10000;
	struct leat_associate_map *m = tasks_new(tasks);
	uint64_t n = 0, found = 0;
	double begin = now_s(), taken, resolved;
	long before_kb = resident_kb();

	for (uint64_t i = 0; i < tasks; i++)
		n += play(m, i, processes, calls);
	taken = now_s();
	if (leat_associate_resolve(m))
		bench_die("out of memory", "");
	resolved = now_s();
	for (uint64_t i = 0; i < tasks * 100; i++) {
		struct leat_associate_answer a;

		leat_associate_find(m, 0, (int32_t)(i % tasks * processes % 4000000 + 2), BEGIN_NS,
				    &a);
		found += a.task != NULL;
	}
	printf("%" PRIu64 " calls of %" PRIu64
	       " processes: %.1f million a second; resolved in %.3f "
	       "s; asked %.1f million times a second, %" PRIu64 " of %" PRIu64
	       " found; %.0f bytes a process\n",
	       n, tasks * processes, (double)n / (taken - begin) / 1e6, resolved - taken,
	       (double)tasks * 100 / (now_s() - resolved) / 1e6, found, tasks * 100,
	       (double)(resident_kb() - before_kb) * 1024 / (double)(tasks * processes));
	leat_associate_free(m);
	return 0;
}
