#include "cli/listen_run.h"

#include "daemon/daemon.h"
#include "control/control.h"
#include "control/snapshot.h"

#include <stdlib.h>
#include <string.h>

typedef double step_fn(const struct leat_snapshot_step *step);

static double read_bytes(const struct leat_snapshot_step *s)
{
	return (double)s->bytes_in;
}

static double written_bytes(const struct leat_snapshot_step *s)
{
	return (double)s->bytes_out;
}

static double wall_seconds(const struct leat_snapshot_step *s)
{
	return (double)s->wall_ns / 1e9;
}

static double waiting_seconds(const struct leat_snapshot_step *s)
{
	return (double)s->wait_ns / 1e9;
}

static double cpu_seconds(const struct leat_snapshot_step *s)
{
	return (double)s->cpu_ns / 1e9;
}

static double is_running(const struct leat_snapshot_step *s)
{
	return strcmp(s->state, "running") == 0;
}

static double is_waiting(const struct leat_snapshot_step *s)
{
	return s->waits;
}

static const struct {
	const char *name, *kind, *help;
	step_fn *of;
} metrics[] = {
	{"leat_step_read_bytes_total", "counter", "Bytes that the step has read.", read_bytes},
	{"leat_step_written_bytes_total", "counter", "Bytes that the step has written.",
	 written_bytes},
	{"leat_step_wall_seconds_total", "counter", "Time since the step began.", wall_seconds},
	{"leat_step_waiting_seconds_total", "counter", "Time that the step has waited for others.",
	 waiting_seconds},
	{"leat_step_cpu_seconds_total", "counter", "CPU time of the step.", cpu_seconds},
	{"leat_step_running", "gauge", "1 while the step runs.", is_running},
	{"leat_step_waits", "gauge", "1 while the step waits for another.", is_waiting},
};

static void put_steps(const struct leat_snapshot *s, FILE *out)
{
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		leat_metric(out, metrics[i].name, metrics[i].kind, metrics[i].help);
		for (size_t k = 0; k < s->n_steps; k++)
			leat_metric_sample(out, metrics[i].name, "step", s->steps[k].name,
					   metrics[i].of(&s->steps[k]));
	}
}

/* By state: a run may have more files than anybody wants metrics of. */
static void put_files(const struct leat_snapshot *s, FILE *out)
{
	static const char *const states[] = {"absent", "produced", "committed", "failed", "gone"};
	double numbers[5] = {0}, bytes[5] = {0};

	for (size_t i = 0; i < s->n_files; i++)
		for (size_t k = 0; k < 5; k++)
			if (strcmp(s->files[i].state, states[k]) == 0) {
				numbers[k]++;
				bytes[k] += (double)s->files[i].bytes;
			}
	leat_metric(out, "leat_files", "gauge", "Files of the run by their state.");
	for (size_t k = 0; k < 5; k++)
		leat_metric_sample(out, "leat_files", "state", states[k], numbers[k]);
	leat_metric(out, "leat_file_bytes", "gauge", "Their sizes.");
	for (size_t k = 0; k < 5; k++)
		leat_metric_sample(out, "leat_file_bytes", "state", states[k], bytes[k]);
}

static void put_memory(const struct leat_snapshot *s, FILE *out)
{
	leat_metric(out, "leat_memory_budget_bytes", "gauge", "Memory that files may take.");
	leat_metric_sample(out, "leat_memory_budget_bytes", NULL, NULL, (double)s->budget_bytes);
	leat_metric(out, "leat_memory_used_bytes", "gauge", "Memory that they take.");
	leat_metric_sample(out, "leat_memory_used_bytes", NULL, NULL, (double)s->used_bytes);
	leat_metric(out, "leat_spilled_bytes", "gauge", "Bytes moved to disk for want of memory.");
	leat_metric_sample(out, "leat_spilled_bytes", NULL, NULL, (double)s->spilled_bytes);
}

/* A connection for each answer: the run ends when it will. */
int leat_listen_run(void *ctx, FILE *out)
{
	const struct leat_listen_run *run = ctx;
	struct leat_control *control = NULL;
	struct leat_snapshot s;
	char *json = NULL;
	int rc = leat_control_open(run->runtime_dir, run->dir, "", LEAT_CONTROL, &control);

	if (!rc)
		rc = leat_control_status(control, &json);
	leat_control_close(control);
	if (!rc)
		rc = leat_snapshot_read(json, &s);
	free(json);
	if (rc)
		return rc;
	put_steps(&s, out);
	put_files(&s, out);
	put_memory(&s, out);
	leat_snapshot_release(&s);
	return 0;
}
