/* Writes a trace as long as one likes, for the rates and the memory of its readers:
 *
 *	bench_tracegen FILE.trace|FILE.csv CALLS [mixed|wide]
 *
 * mixed: 200 tasks that read and write 20 files each, in order and at random; wide: processes,
 * files and scattered calls without end, so that every bound of a report is reached. */
#include "iotrace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 200, FILES = 20, SIZE = 4096 };

#define BEGIN_NS INT64_C(1700000000000000000)

struct gen {
	struct leat_trace_writer *out;
	uint64_t calls, done;
	int64_t now_ns;
	uint64_t random;
	uint64_t handle;
	uint64_t at[TASKS][FILES];
	int error;
};

static uint64_t below(struct gen *g, uint64_t n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return g->random % n;
}

static void put(struct gen *g, struct leat_trace_record *r)
{
	if (!g->error)
		g->error = leat_trace_write(g->out, r);
}

static void call(struct gen *g, struct leat_trace_call c)
{
	struct leat_trace_record r = {.kind = LEAT_TRACE_CALL, .call = c};

	r.call.start_ns = g->now_ns;
	g->now_ns += 500 + (int64_t)below(g, 1000);
	r.call.end_ns = g->now_ns;
	g->done++;
	put(g, &r);
}

static void process(struct gen *g, int32_t pid, const char *program)
{
	struct leat_trace_record r = {
		.kind = LEAT_TRACE_PROCESS,
		.process = {
			.time_ns = g->now_ns, .change = LEAT_TRACE_FORK, .ppid = 1, .pid = pid}};

	put(g, &r);
	r.process.change = LEAT_TRACE_EXEC;
	r.process.program = program;
	put(g, &r);
}

static void open_file(struct gen *g, int32_t pid, const char *path, uint64_t inode, uint64_t handle)
{
	call(g, (struct leat_trace_call){.type = LEAT_TRACE_OPEN,
					 .pid = pid,
					 .inode = inode,
					 .handle = handle,
					 .path = path});
}

static void move(struct gen *g, int32_t pid, uint64_t inode, uint64_t handle, bool writes,
		 uint64_t offset, uint64_t size)
{
	call(g, (struct leat_trace_call){.type = writes ? LEAT_TRACE_WRITE : LEAT_TRACE_READ,
					 .pid = pid,
					 .inode = inode,
					 .handle = handle,
					 .offset = offset,
					 .size = size,
					 .result = (int64_t)size});
}

/* ---- mixed ---- */

static void use(struct gen *g, int t, int f)
{
	uint64_t *at = &g->at[t][f], offset = *at;

	/* One in five files is read at random. */
	if (f % 5 == 4)
		offset = below(g, 1 << 28);
	move(g, t + 2, (uint64_t)((t - f % 2 + 1) * FILES + f + 1), (uint64_t)(t * FILES + f + 1),
	     f % 2 == 0, offset, SIZE);
	*at = offset + SIZE;
}

static void mixed(struct gen *g)
{
	char text[64];

	for (int32_t t = 0; t < TASKS; t++) {
		snprintf(text, sizeof(text), "/usr/bin/program%d", t);
		process(g, t + 2, text);
		for (int f = 0; f < FILES; f++) {
			snprintf(text, sizeof(text), "/data/task%d/file%d", t - f % 2, f);
			open_file(g, t + 2, text, (uint64_t)((t - f % 2 + 1) * FILES + f + 1),
				  (uint64_t)(t * FILES + f + 1));
		}
	}
	while (g->done < g->calls && !g->error) {
		int t = (int)below(g, TASKS), f = (int)below(g, FILES);

		/* A program mostly stays with a file for a while. */
		for (uint64_t i = below(g, 64); i > 0; i--)
			use(g, t, f);
	}
}

/* ---- wide ---- */

static void wide(struct gen *g)
{
	char text[96];

	for (int32_t pid = 2; g->done < g->calls && !g->error; pid++) {
		snprintf(text, sizeof(text), "/opt/tool%d", pid % 30000);
		process(g, pid % 4000000 + 2, text);
		for (int f = 0; f < 20; f++) {
			uint64_t file = below(g, 10000000), handle = ++g->handle;

			snprintf(text, sizeof(text),
				 "/work/d%03" PRIu64 "/a-rather-long-name-%" PRIu64, file % 5000,
				 file);
			open_file(g, pid % 4000000 + 2, text, file + 1, handle);
			for (int i = 0; i < 8; i++)
				move(g, pid % 4000000 + 2, file + 1, handle, i % 2,
				     below(g, UINT64_C(1) << 34), 1 + below(g, 8192));
			/* Some are never closed. */
			if (f)
				call(g, (struct leat_trace_call){.type = LEAT_TRACE_CLOSE,
								 .pid = pid % 4000000 + 2,
								 .inode = file + 1,
								 .handle = handle});
		}
	}
}

int main(int argc, char **argv)
{
	struct leat_trace_head head = {
		.host = (char[]){"bench"}, .tracer = (char[]){"tracegen"}, .began_ns = BEGIN_NS};
	struct gen g = {.now_ns = BEGIN_NS, .random = 88172645463325252u};
	int error;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_tracegen FILE CALLS [mixed|wide]\n");
		return 2;
	}
	g.calls = strtoull(argv[2], NULL, 10);
	g.out = leat_trace_writer_new(argv[1], &head);
	if (!g.out) {
		fprintf(stderr, "bench_tracegen: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	if (argc > 3 && !strcmp(argv[3], "wide"))
		wide(&g);
	else
		mixed(&g);
	error = leat_trace_writer_end(g.out, NULL);
	if (!g.error)
		g.error = error;
	if (g.error)
		fprintf(stderr, "bench_tracegen: %s: %s\n", argv[1], strerror(-g.error));
	return g.error ? 1 : 0;
}
