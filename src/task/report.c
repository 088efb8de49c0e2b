#include "task/report.h"
#include "base/clock.h"
#include "base/json.h"
#include "page/page.h"
#include "sched/page_parts.h"
#include "sched/write.h"
#include "task/page_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* MB/s while any of its tasks was running; 0: no I/O was seen. */
static double bandwidth_mbps(const struct leat_task_use *use)
{
	return use->busy_ns ? (double)use->bytes * 1e3 / (double)use->busy_ns : 0;
}

static uint64_t n_ended(const struct leat_task_use *use)
{
	return use->n_done + use->n_failed;
}

static double mean_s(const struct leat_task_use *use)
{
	return n_ended(use) ? (double)use->task_ns / 1e9 / (double)n_ended(use) : 0;
}

/* --- JSON --- */

static void put_use(struct leat_json *j, struct leat_tasks *t, const struct leat_task_use *use)
{
	struct leat_sched_type_state state;

	leat_sched_type_state(t->sched, use->sched_type, &state);
	leat_json_object(j, NULL, false);
	leat_json_string(j, "task", use->kind->name);
	leat_json_bool(j, "io", use->kind->constraints.io);
	if (use->device)
		leat_json_string(j, "device", use->device->name);
	if (use->kind->constraints.storage_bw)
		leat_json_string(j, "storage_bw", use->kind->constraints.storage_bw);
	leat_json_number(j, "done", use->n_done);
	leat_json_number(j, "failed", use->n_failed);
	leat_json_number(j, "not_run", use->n_cancelled);
	leat_json_real(j, "total_s", (double)use->task_ns / 1e9);
	leat_json_real(j, "busy_s", (double)use->busy_ns / 1e9);
	if (use->kind->constraints.io) {
		leat_json_number(j, "bytes", use->bytes);
		leat_json_real(j, "bandwidth_mbps", bandwidth_mbps(use));
	}
	if (state.phase != LEAT_SCHED_FIXED)
		leat_sched_write_learning(j, &state, t->started_ns);
	leat_achieved_write_type(j, t->achieved, use->sched_type);
	leat_json_close(j);
}

static void put_device(struct leat_json *j, const struct leat_tasks *t, unsigned number)
{
	struct leat_sched_device_state state;

	leat_sched_device_state(t->sched, number, &state);
	leat_sched_write_device(j, &state, t->achieved, number);
}

static uint64_t elapsed_ns(const struct leat_tasks *t)
{
	return leat_clock_ns() - t->started_ns;
}

static void put_head(struct leat_json *j, const struct leat_tasks *t)
{
	leat_json_number(j, "tasks", t->n_submitted);
	leat_json_real(j, "elapsed_s", (double)elapsed_ns(t) / 1e9);
	leat_json_number(j, "computing_units", t->resources->hosts[0].computing_units);
	leat_json_number(j, "io_executors", t->resources->hosts[0].io_executors);
}

/* The task types have that name. */
static void put_lists(struct leat_json *j, struct leat_tasks *t, const char *name)
{
	leat_json_list(j, name, false);
	for (unsigned i = 0; i < t->n_uses; i++)
		for (const struct leat_task_use *use = t->uses[i]; use; use = use->next)
			put_use(j, t, use);
	leat_json_close(j);
	leat_json_list(j, "devices", false);
	for (unsigned i = 0; i < leat_sched_n_devices(t->sched); i++)
		put_device(j, t, i);
	leat_json_close(j);
}

static int write_json(struct leat_tasks *t, FILE *out)
{
	struct leat_json j = {.out = out};

	leat_json_object(&j, NULL, false);
	put_head(&j, t);
	put_lists(&j, t, "task_types");
	leat_json_close(&j);
	return 0;
}

/* --- page --- */

static int write_data(void *ctx, FILE *out)
{
	struct leat_tasks *t = ctx;
	struct leat_json j = {.out = out};

	leat_json_object(&j, NULL, false);
	leat_json_string(&j, "version", LEAT_VERSION);
	leat_json_string(&j, "program", program_invocation_short_name);
	leat_json_number(&j, "length_us", elapsed_ns(t) / 1000);
	put_head(&j, t);
	leat_json_object(&j, "scheduling", false);
	put_lists(&j, t, "tasks");
	leat_json_close(&j);
	leat_json_close(&j);
	return 0;
}

static int write_page(struct leat_tasks *t, FILE *out)
{
	const struct leat_page_part parts[] = {
		{.name = "storage-style", .text = leat_sched_page_style},
		{.name = "data", .write = write_data, .ctx = t},
		{.name = "script", .text = leat_tasks_script},
		{.name = "storage", .text = leat_sched_page_storage},
	};

	return leat_page_write(leat_tasks_html, parts, sizeof(parts) / sizeof(*parts), out);
}

/* --- text --- */

static void print_learning(FILE *out, const struct leat_sched_type_state *state)
{
	for (size_t i = 0; i < state->n_epochs; i++) {
		const struct leat_sched_epoch *e = &state->epochs[i];

		fprintf(out, "    epoch %zu: %u MB/s, %u of %u tasks, mean %.3f s, %s\n", i + 1,
			e->constraint_mbps, e->ended, e->slots, e->mean_s,
			leat_sched_epoch_word(e->end));
	}
	if (state->n_registry > 0)
		fprintf(out, "    chosen last: %u MB/s\n", state->constraint_mbps);
}

static void print_use(FILE *out, struct leat_tasks *t, const struct leat_task_use *use)
{
	struct leat_sched_type_state state;

	fprintf(out, "%-24s %10llu %8llu %8llu %12.6f", use->kind->name,
		(unsigned long long)use->n_done, (unsigned long long)use->n_failed,
		(unsigned long long)use->n_cancelled, mean_s(use));
	if (use->kind->constraints.io)
		fprintf(out, " %10.1f %10.1f  %s", (double)use->bytes / 1e6, bandwidth_mbps(use),
			use->device ? use->device->name : "-");
	putc('\n', out);
	leat_sched_type_state(t->sched, use->sched_type, &state);
	print_learning(out, &state);
}

static int write_text(struct leat_tasks *t, FILE *out)
{
	fprintf(out, "%llu tasks in %.3f s, %u computing units, %u I/O executors\n",
		(unsigned long long)t->n_submitted, (double)elapsed_ns(t) / 1e9,
		t->resources->hosts[0].computing_units, t->resources->hosts[0].io_executors);
	fprintf(out, "%-24s %10s %8s %8s %12s %10s %10s  %s\n", "task", "done", "failed", "not run",
		"mean s", "MB", "MB/s", "device");
	for (unsigned i = 0; i < t->n_uses; i++)
		for (const struct leat_task_use *use = t->uses[i]; use; use = use->next)
			print_use(out, t, use);
	for (unsigned i = 0; i < leat_sched_n_devices(t->sched); i++) {
		struct leat_sched_device_state device;
		struct leat_achieved_total total;

		leat_sched_device_state(t->sched, i, &device);
		leat_achieved_device_total(t->achieved, i, &total);
		fprintf(out,
			"device %s: %u MB/s, at most %u allocated at a time, by %llu tasks; "
			"achieved %.1f MB/s, at most %.1f\n",
			device.name, device.bandwidth_mbps, device.peak_mbps,
			(unsigned long long)device.peak_running, total.mean_mbps, total.peak_mbps);
	}
	return 0;
}

static bool ends_in(const char *path, const char *ending)
{
	size_t length = strlen(path), end = strlen(ending);

	return length > end && strcmp(path + length - end, ending) == 0;
}

static int write_report(struct leat_tasks *t, const char *path, FILE *out)
{
	int ret;

	errno = 0;
	ret = ends_in(path, ".json")   ? write_json(t, out)
	      : ends_in(path, ".html") ? write_page(t, out)
				       : write_text(t, out);
	if (ret == 0 && (fflush(out) != 0 || ferror(out)))
		ret = errno ? -errno : -EIO;
	return ret;
}

int leat_tasks_report(struct leat_tasks *t, const char *path, bool quiet)
{
	FILE *out = strcmp(path, "-") == 0 ? stderr : fopen(path, "we");
	int ret = out ? 0 : -errno;

	leat_achieved_settle(t->achieved, leat_clock_ns());
	if (out)
		ret = write_report(t, path, out);
	if (out && out != stderr && fclose(out) != 0 && ret == 0)
		ret = -errno;
	if (ret < 0 && !quiet)
		leat_tasks_set_error(ret, "cannot write the report %s: %s", path,
				     ret == -ENOTSUP ? LEAT_PAGE_MISSING : strerror(-ret));
	return ret;
}
