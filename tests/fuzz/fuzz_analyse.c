/* Any calls at all as a trace: the analysis neither crashes nor leaks, keeps to its limits, and its
 * sums by task, file and edge are the same. What it finds is written in every form.
 *
 *   .ci/fuzz 60 analyse */
#include "report/report.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t take(const uint8_t **data, size_t *size, size_t n)
{
	uint64_t v = 0;

	if (n > *size)
		n = *size;
	memcpy(&v, *data, n);
	*data += n;
	*size -= n;
	return v;
}

static void must(bool true_)
{
	if (!true_)
		abort();
}

static struct leat_trace_call call_of(const uint8_t **data, size_t *size)
{
	static const char *const paths[] = {"/a", "/a/b", "/c", "relative", "/a/</script>", ""};
	unsigned kind = (unsigned)take(data, size, 1), wide = (unsigned)take(data, size, 1);
	struct leat_trace_call c = {
		.type = (enum leat_trace_type) "OCRWXUNTM"[kind % 9],
		.pid = (int32_t)(kind / 9),
		.inode = take(data, size, 1) % 16,
		.handle = take(data, size, 1) % 16,
	};

	/* Mostly small numbers; now and then any. */
	c.start_ns = (int64_t)take(data, size, wide & 1 ? 8 : 3);
	c.end_ns = wide & 2 ? (int64_t)take(data, size, 8)
			    : (int64_t)((uint64_t)c.start_ns + take(data, size, 2));
	c.offset = take(data, size, wide & 4 ? 8 : 2);
	c.size = take(data, size, wide & 8 ? 8 : 2);
	c.result = (int64_t)(wide & 16 ? take(data, size, 7) : c.size % 70000);
	if (wide & 32)
		c.result = -(int64_t)(1 + wide);
	c.flags = wide;
	if (strchr("OCUN", (int)c.type) && !(wide & 64))
		c.path = paths[c.inode % 6];
	if (c.type == LEAT_TRACE_RENAME && !(wide & 128))
		c.to = paths[c.handle % 6];
	return c;
}

static void check(const struct leat_analysis *a)
{
	uint64_t by_task = 0, by_file = 0, by_edge = 0;

	for (uint32_t i = 0; i < a->n_tasks; i++)
		by_task += a->tasks[i].ways[LEAT_READ].bytes + a->tasks[i].ways[LEAT_WRITTEN].bytes;
	for (uint32_t i = 0; i < a->n_files; i++)
		by_file += a->files[i].bytes[LEAT_READ] + a->files[i].bytes[LEAT_WRITTEN];
	for (uint32_t i = 0; i < a->n_edges; i++)
		by_edge += leat_edge_bytes(&a->edges[i], LEAT_READ) +
			   leat_edge_bytes(&a->edges[i], LEAT_WRITTEN);
	must(by_task == by_file && by_task == by_edge);
	must(a->n_tasks <= a->limits.tasks && a->n_files <= a->limits.files * 9 / 8 &&
	     a->n_edges <= a->limits.edges + a->limits.tasks);
}

static void write_all(struct leat_analysis *a)
{
	static FILE *nowhere;
	struct leat_report_found found = {.analysis = a};
	struct leat_report *r = leat_report_of(&found, NULL, NULL);

	must(r);
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	must(nowhere);
	must(!leat_report_write_text(r, nowhere, 80, true, 50));
	must(!leat_report_write_json(r, &leat_report_page, nowhere));
	must(!leat_report_write_perfetto(r, nowhere));
	leat_report_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct leat_analysis_limits limits = {.tasks = 6,
					      .files = 8,
					      .edges = 16,
					      .handles = 8,
					      .coverage = {.bytes = 4096, .most = 64},
					      .spans = {.bytes = 4096, .most = 16}};
	struct leat_analysis *a = leat_analysis_new(&limits);

	must(a);
	while (size) {
		struct leat_trace_call c = call_of(&data, &size);
		char name[] = {'t', (char)('a' + c.pid % 20), '\0'};
		uint32_t task;

		must(!leat_analysis_task(a, name, NULL, LEAT_REPORT_TASK, &task));
		must(!leat_analysis_call(a, (unsigned)c.pid & 1, task, &c));
	}
	leat_analysis_finish(a);
	check(a);
	write_all(a);
	return 0;
}
