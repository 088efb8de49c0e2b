/* leat probe: what bandwidth the device with a directory sustains, as a section `resources`. */
#include "probe/probe.h"
#include "base/cpus.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct leat_option options[] = {
	{.name = "method",
	 .letter = 'm',
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "METHOD",
	 .fallback = "fsync",
	 .range = "fsync|direct",
	 .doc = "How to write: through the page cache, until fsync returns, as most programs that "
		"keep "
		"checkpoints do; or with O_DIRECT."},
	{.name = "tasks",
	 .letter = 't',
	 .type = LEAT_OPTION_NUMBER,
	 .argument = "N",
	 .fallback = "16",
	 .range = "1..1024",
	 .doc = "Measure 1, 2, 4... up to N writers and readers at a time."},
	{.name = "seconds",
	 .letter = 's',
	 .type = LEAT_OPTION_SECONDS,
	 .argument = "SECONDS",
	 .fallback = "1",
	 .range = "0.01..3600",
	 .doc = "Write more until a measurement takes this long."},
	{.name = "max-size",
	 .type = LEAT_OPTION_SIZE,
	 .argument = "SIZE",
	 .fallback = "2G",
	 .doc = "Write no more than this at a time, and never more than half of what is free."},
	{.name = "name",
	 .letter = 'n',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "NAME",
	 .doc = "Name of the device in the description; as the system calls it if not given."},
	{.name = "format",
	 .letter = 'f',
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "FORMAT",
	 .fallback = "yaml",
	 .range = "yaml|json",
	 .doc = "yaml: a section resources, with the measurements as comments; json: all results."},
	{0},
};

enum { MAX_POINTS = 12, GB = 1000000000 };

struct probe {
	struct leat_probe_device device;
	struct leat_probe_options options;
	struct leat_probe_result points[MAX_POINTS];
	size_t n_points;
	const char *name; /* borrowed */
};

static const struct leat_probe_result *find_best(const struct probe *p)
{
	const struct leat_probe_result *best = &p->points[0];

	for (size_t i = 1; i < p->n_points; i++)
		if (p->points[i].write_mbps > best->write_mbps)
			best = &p->points[i];
	return best;
}

/* A bandwidth is a whole number from 1 up. */
static unsigned long long bandwidth_mbps(const struct probe *p)
{
	double mbps = find_best(p)->write_mbps;

	return mbps < 1 ? 1 : (unsigned long long)mbps;
}

/* --- output --- */

static void print_yaml(const struct probe *p, const char *host)
{
	const struct leat_probe_device *d = &p->device;
	const char *indent = d->shared ? "    " : "        ";
	unsigned n = leat_count_cpus();

	printf("# %s: %s on %s, written with %s\n", p->options.dir, d->fs, d->source,
	       p->options.method == LEAT_PROBE_DIRECT ? "O_DIRECT" : "fsync");
	printf("# tasks at a time  write MB/s  read MB/s\n");
	for (size_t i = 0; i < p->n_points; i++)
		printf("# %15u  %10.1f  %9.1f%s\n", p->points[i].tasks, p->points[i].write_mbps,
		       p->points[i].read_mbps, p->points[i].cached ? " (from memory, maybe)" : "");
	printf("resources:\n  nodes:\n    - name: %s\n      computing_units: %u\n", host,
	       n ? n : 1);
	if (d->shared)
		printf("  storage: # of all nodes together\n");
	else
		printf("      storage:\n");
	printf("%s- name: %s\n%s  type: %s\n%s  bandwidth: %llu # MB/s, by %u at a time\n", indent,
	       p->name, indent, d->type, indent, bandwidth_mbps(p), find_best(p)->tasks);
	if (d->size_bytes >= GB)
		printf("%s  size: %llu # GB\n", indent, (unsigned long long)(d->size_bytes / GB));
	printf("%s  paths: [\"%s\"]\n", indent, d->mount);
}

static void print_json(const struct probe *p, const char *host)
{
	struct leat_json j = {.out = stdout};

	leat_json_object(&j, NULL, false);
	leat_json_string(&j, "directory", p->options.dir);
	leat_json_string(&j, "host", host);
	leat_json_string(&j, "name", p->name);
	leat_json_string(&j, "source", p->device.source);
	leat_json_string(&j, "mount", p->device.mount);
	leat_json_string(&j, "file_system", p->device.fs);
	leat_json_string(&j, "type", p->device.type);
	leat_json_bool(&j, "shared", p->device.shared);
	leat_json_number(&j, "size", p->device.size_bytes);
	leat_json_string(&j, "method", p->options.method == LEAT_PROBE_DIRECT ? "direct" : "fsync");
	leat_json_number(&j, "bandwidth", bandwidth_mbps(p));
	leat_json_list(&j, "measurements", false);
	for (size_t i = 0; i < p->n_points; i++) {
		const struct leat_probe_result *r = &p->points[i];

		leat_json_object(&j, NULL, true);
		leat_json_number(&j, "tasks", r->tasks);
		leat_json_number(&j, "bytes", r->bytes);
		leat_json_real(&j, "write_s", r->write_s);
		leat_json_real(&j, "write_mbps", r->write_mbps);
		leat_json_real(&j, "read_s", r->read_s);
		leat_json_real(&j, "read_mbps", r->read_mbps);
		leat_json_bool(&j, "maybe_from_memory", r->cached);
		leat_json_close(&j);
	}
	leat_json_close(&j);
	leat_json_close(&j);
}

/* --- measuring --- */

static bool measure(struct probe *p, unsigned tasks, const void *data)
{
	int ret;

	p->options.tasks = tasks;
	ret = leat_probe_measure(&p->options, data, &p->points[p->n_points]);
	if (ret == 0) {
		p->n_points++;
		return true;
	}
	if (ret == -EINVAL && p->options.method == LEAT_PROBE_DIRECT)
		leat_error("%s: %s has no O_DIRECT; use --method fsync", p->options.dir,
			   p->device.fs);
	else
		leat_error("%s: with %u tasks: %s", p->options.dir, tasks, strerror(-ret));
	return false;
}

static bool measure_all(struct probe *p, unsigned max_tasks)
{
	void *data = leat_probe_data();
	bool good = data != NULL;

	if (!data)
		leat_error("out of memory");
	for (unsigned tasks = 1; good && tasks < max_tasks; tasks *= 2)
		good = measure(p, tasks, data);
	if (good)
		good = measure(p, max_tasks, data);
	free(data);
	return good;
}

static bool probe_device(struct probe *p, const struct leat_args *args)
{
	enum { LEAST = 1 << 20 };
	unsigned tasks = (unsigned)leat_args_number(args, "tasks");
	int ret = leat_probe_look(p->options.dir, &p->device);
	const char *name = leat_args_text(args, "name");

	if (ret < 0) {
		leat_error("%s: %s", p->options.dir, strerror(-ret));
		return false;
	}
	if (p->options.max_bytes > p->device.free_bytes / 2)
		p->options.max_bytes = p->device.free_bytes / 2;
	if (p->options.max_bytes < (uint64_t)tasks * LEAST) {
		leat_error("%s: %u tasks are to write at least 1 MB each, and only half of the "
			   "%llu bytes "
			   "that are free, or --max-size, may be used; free some space, or use "
			   "--tasks",
			   p->options.dir, tasks, (unsigned long long)p->device.free_bytes);
		return false;
	}
	p->name = name ? name : p->device.name;
	return true;
}

static int probe_command(const struct leat_args *args)
{
	struct probe p = {.options = {
				  .dir = args->operands[0],
				  .method = strcmp(leat_args_text(args, "method"), "direct") == 0
						    ? LEAT_PROBE_DIRECT
						    : LEAT_PROBE_FSYNC,
				  .seconds = leat_args_seconds(args, "seconds"),
				  .max_bytes = leat_args_size_bytes(args, "max-size"),
			  }};
	char host[256] = "localhost";

	if (!probe_device(&p, args) || !measure_all(&p, (unsigned)leat_args_number(args, "tasks")))
		return LEAT_EXIT_FAILURE;
	if (gethostname(host, sizeof(host) - 1) < 0)
		memcpy(host, "localhost", sizeof("localhost"));
	if (strcmp(leat_args_text(args, "format"), "json") == 0)
		print_json(&p, host);
	else
		print_yaml(&p, host);
	return LEAT_EXIT_OK;
}

const struct leat_command leat_command_probe = {
	.name = "probe",
	.summary = "Measure the bandwidth of a storage device and describe it",
	.operands = "DIRECTORY",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.run = probe_command,
};
