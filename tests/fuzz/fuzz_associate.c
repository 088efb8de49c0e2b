/* Any text as a log of a workflow manager, the kind of which its first byte says: it is read to its
 * end, and a small trace is set against its tasks.
 *
 *   .ci/fuzz 60 associate */
#include "associate/associate.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BEGIN_NS (INT64_C(1663859640) * 1000000000)

static void say(void *ctx, const char *text)
{
	(void)ctx;
	if (strchr(text, '\n'))
		abort();
}

static char path[64];

/* In memory that goes with the process, however it ends. */
static void write_log(const uint8_t *data, size_t size)
{
	static int log = -1;

	if (log < 0) {
		log = memfd_create("log", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", log);
	}
	if (ftruncate(log, 0) || pwrite(log, data, size, 0) != (ssize_t)size)
		abort();
}

static void take_process(struct leat_associate_map *m, enum leat_trace_change change, int32_t ppid,
			 int32_t pid, const char *dir)
{
	struct leat_trace_record r = {.kind = LEAT_TRACE_PROCESS,
				      .process = {.time_ns = BEGIN_NS + pid,
						  .change = change,
						  .ppid = ppid,
						  .pid = pid,
						  .cgroup = (uint64_t)pid % 3,
						  .dir = dir,
						  .labels = "SLURM_JOB_ID=15 HOSTNAME=p"}};

	if (leat_associate_add(m, &r, NULL))
		abort();
}

/* Processes that touch the files of each task, and of the one before it. */
static void play(struct leat_associate_map *m)
{
	char name[PATH_MAX];
	size_t n = leat_associate_tasks(m);

	for (size_t i = 0; i < n && i < 100; i++) {
		const struct leat_associate_task *t = leat_associate_task(m, i ? i - 1 : 0);
		struct leat_trace_record r = {.kind = LEAT_TRACE_CALL,
					      .call = {.start_ns = BEGIN_NS,
						       .pid = (int32_t)(i + 2),
						       .type = LEAT_TRACE_OPEN,
						       .path = name}};

		take_process(m, LEAT_TRACE_FORK, (int32_t)(i / 2 + 1), (int32_t)(i + 2), NULL);
		take_process(m, LEAT_TRACE_EXEC, 0, (int32_t)(i + 2),
			     leat_associate_task(m, i)->dir);
		snprintf(name, sizeof(name), "%.4000s/.command.sh", t->dir ? t->dir : "");
		if (leat_associate_add(m, &r, NULL))
			abort();
		take_process(m, LEAT_TRACE_EXIT, 0, (int32_t)(i + 2), NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct leat_associate_options options = {.zone_s = INT_MIN, .slurm = true, .report = say};
	struct leat_associate_map *m;
	size_t n = 0;

	if (!size)
		return 0;
	m = leat_associate_new(&options);
	if (!m)
		abort();
	write_log(data + 1, size - 1);
	while (leat_associate_formats[n])
		n++;
	leat_associate_read_log(m, path, leat_associate_formats[data[0] % (n + 1)]);
	play(m);
	if (leat_associate_resolve(m))
		abort();
	for (size_t i = 0; i < leat_associate_images(m); i++) {
		struct leat_associate_answer a;

		leat_associate_answer(m, i, &a);
		if (!a.task == !a.reason)
			abort();
	}
	leat_associate_free(m);
	return 0;
}
