#include "cli/simulate_write.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

static const char *const epoch_ends[] = {
	[LEAT_SCHED_EPOCH_OPEN] = "open",
	[LEAT_SCHED_EPOCH_REGISTERED] = "registered",
	[LEAT_SCHED_EPOCH_DISCARDED] = "discarded",
	[LEAT_SCHED_EPOCH_UNREGISTERED] = "unregistered",
	[LEAT_SCHED_EPOCH_FAILED] = "failed",
};

/* MB/s of a device while it is in use, on average. */
static double throughput(const struct leat_simulated *r)
{
	return r->busy_s > 0 ? r->megabytes / r->busy_s : 0;
}

static uint64_t learned_from(const struct leat_simulated *r)
{
	uint64_t tasks = 0;

	for (size_t g = 0; g < r->n_groups; g++)
		tasks += r->groups[g].learned_from;
	return tasks;
}

/* When the last task type had learned; 0: none did. */
static double learned_s(const struct leat_simulated *r)
{
	double last = 0;

	for (size_t g = 0; g < r->n_groups; g++)
		if (r->groups[g].learned_s > last)
			last = r->groups[g].learned_s;
	return last;
}

/* --- text ----------------------------------------------------------------------------------------
 */

static const struct leat_simulated *find_baseline(const struct leat_trials *t)
{
	for (size_t i = 0; i < t->w->n_trials; i++)
		if (t->w->trials[i].kind == LEAT_TRIAL_BASELINE)
			return &t->results[i];
	return NULL;
}

static void write_trial(const struct leat_trials *t, size_t i, FILE *out)
{
	const struct leat_simulated *r = &t->results[i], *base = find_baseline(t);
	char gain[32] = "";

	if (base && base != r && base->total_s > 0)
		snprintf(gain, sizeof(gain), "%+.1f %%", 100 * (r->total_s / base->total_s - 1));
	fprintf(out, "%-16s %10.2f %9s %10.2f %10.1f %9" PRIu64, t->w->trials[i].text, r->total_s,
		gain, r->io_s, throughput(r), r->at_a_time);
	if (learned_from(r))
		fprintf(out, " %9" PRIu64 " %10.2f", learned_from(r), learned_s(r));
	fputc('\n', out);
}

static void write_learning(const struct leat_simulated_group *g, const char *trial, FILE *out)
{
	fprintf(out, "\n%s with %s", g->name, trial);
	if (g->phase == LEAT_SCHED_LEARNED)
		fprintf(out,
			": learned from %" PRIu64 " tasks by %.2f s, last constraint %u MB/s\n",
			g->learned_from, g->learned_s, g->constraint_mbps);
	else
		fprintf(out, ": still learning at the end, from %" PRIu64 " tasks\n",
			g->learned_from);
	fputs("  MB/s  tasks     mean s    begin s      end s\n", out);
	for (size_t e = 0; e < g->n_epochs; e++) {
		const struct leat_sched_epoch *epoch = &g->epochs[e];

		fprintf(out, "%6u %6u %10.2f %10.2f %10.2f  %s\n", epoch->constraint_mbps,
			epoch->started, epoch->mean_s, (double)epoch->begin_ns / 1e9,
			(double)epoch->end_ns / 1e9, epoch_ends[epoch->end]);
	}
}

void leat_trials_write_text(const struct leat_trials *t, FILE *out)
{
	fprintf(out, "%s: %" PRIu64 " tasks on %zu node%s\n\n", t->w->name,
		t->w->n_trials ? t->results[0].tasks : 0, t->res->n_hosts,
		t->res->n_hosts == 1 ? "" : "s");
	fprintf(out, "%-16s %10s %9s %10s %10s %9s %9s %10s\n", "trial", "total s", "",
		"I/O task s", "MB/s", "at a time", "learn", "learned s");
	for (size_t i = 0; i < t->w->n_trials; i++)
		write_trial(t, i, out);
	for (size_t i = 0; i < t->w->n_trials; i++)
		for (size_t g = 0; g < t->results[i].n_groups; g++)
			if (t->results[i].groups[g].n_epochs)
				write_learning(&t->results[i].groups[g], t->w->trials[i].text, out);
}

/* --- JSON
 * ----------------------------------------------------------------------------------------- */

static void put_epochs(struct leat_json *j, const struct leat_simulated_group *g)
{
	leat_json_list(j, "epochs", false);
	for (size_t e = 0; e < g->n_epochs; e++) {
		const struct leat_sched_epoch *epoch = &g->epochs[e];

		leat_json_object(j, NULL, true);
		leat_json_number(j, "constraint_mbps", epoch->constraint_mbps);
		leat_json_number(j, "slots", epoch->slots);
		leat_json_number(j, "tasks", epoch->started);
		leat_json_real(j, "mean_s", epoch->mean_s);
		leat_json_real(j, "begin_s", (double)epoch->begin_ns / 1e9);
		leat_json_real(j, "end_s", (double)epoch->end_ns / 1e9);
		leat_json_string(j, "end", epoch_ends[epoch->end]);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_registry(struct leat_json *j, const struct leat_simulated_group *g)
{
	leat_json_list(j, "registry", false);
	for (size_t e = 0; e < g->n_registry; e++) {
		leat_json_object(j, NULL, true);
		leat_json_number(j, "constraint_mbps", g->registry[e].constraint_mbps);
		leat_json_number(j, "slots", g->registry[e].slots);
		leat_json_number(j, "slots_all", g->registry[e].slots_all);
		leat_json_real(j, "mean_s", g->registry[e].mean_s);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_group(struct leat_json *j, const struct leat_simulated_group *g)
{
	char bandwidth[64];

	leat_bandwidth_format(&g->bandwidth, bandwidth, sizeof(bandwidth));
	leat_json_object(j, NULL, false);
	leat_json_string(j, "name", g->name);
	leat_json_bool(j, "io", g->io);
	if (*bandwidth)
		leat_json_string(j, "storage_bw", bandwidth);
	leat_json_number(j, "tasks", g->tasks);
	leat_json_real(j, "mean_s", g->mean_s);
	leat_json_real(j, "begin_s", g->begin_s);
	leat_json_real(j, "end_s", g->end_s);
	leat_json_number(j, "last_constraint_mbps", g->constraint_mbps);
	if (g->n_epochs) {
		leat_json_number(j, "learned_from", g->learned_from);
		leat_json_real(j, "learned_s", g->learned_s);
		put_epochs(j, g);
		put_registry(j, g);
	}
	leat_json_close(j);
}

void leat_trials_write_json(const struct leat_trials *t, FILE *out)
{
	struct leat_json j = {.out = out};

	leat_json_object(&j, NULL, false);
	leat_json_string(&j, "workload", t->w->name);
	leat_json_number(&j, "iterations", t->w->iterations);
	leat_json_number(&j, "nodes", t->res->n_hosts);
	leat_json_list(&j, "trials", false);
	for (size_t i = 0; i < t->w->n_trials; i++) {
		const struct leat_simulated *r = &t->results[i];

		leat_json_object(&j, NULL, false);
		leat_json_string(&j, "trial", t->w->trials[i].text);
		leat_json_real(&j, "total_s", r->total_s);
		leat_json_number(&j, "tasks", r->tasks);
		leat_json_real(&j, "io_task_s", r->io_s);
		leat_json_real(&j, "throughput_mbps", throughput(r));
		leat_json_number(&j, "io_at_a_time", r->at_a_time);
		leat_json_real(&j, "computing_units_used", r->computing);
		leat_json_number(&j, "learned_from", learned_from(r));
		leat_json_real(&j, "learned_s", learned_s(r));
		leat_json_list(&j, "task_types", false);
		for (size_t g = 0; g < r->n_groups; g++)
			put_group(&j, &r->groups[g]);
		leat_json_close(&j);
		leat_json_close(&j);
	}
	leat_json_close(&j);
	leat_json_close(&j);
}

/* --- CSV
 * ------------------------------------------------------------------------------------------ */

/* A field, and what stands behind it. Source: RFC 4180. */
static void put_field(const char *text, const char *end, FILE *out)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fprintf(out, "%s%s", text, end);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fprintf(out, "\"%s", end);
}

static void put_trial_row(const struct leat_trials *t, size_t i, FILE *out)
{
	const struct leat_simulated *r = &t->results[i];

	put_field(t->w->trials[i].text, ",", out);
	fprintf(out, "%.3f,%.3f,%.3f,%" PRIu64 ",%" PRIu64 ",%.3f,%.3f\n", r->total_s, r->io_s,
		throughput(r), r->at_a_time, learned_from(r), learned_s(r), r->computing);
}

static void put_task_row(const char *trial, const struct leat_simulated_group *g, FILE *out)
{
	char bandwidth[64];

	leat_bandwidth_format(&g->bandwidth, bandwidth, sizeof(bandwidth));
	put_field(trial, ",", out);
	put_field(g->name, ",", out);
	put_field(bandwidth, ",", out);
	fprintf(out, "%d,%" PRIu64 ",%.3f,%.3f,%.3f,%u\n", g->io, g->tasks, g->mean_s, g->begin_s,
		g->end_s, g->constraint_mbps);
}

static void put_epoch_rows(const char *trial, const struct leat_simulated_group *g, FILE *out)
{
	for (size_t e = 0; e < g->n_epochs; e++) {
		const struct leat_sched_epoch *epoch = &g->epochs[e];

		put_field(trial, ",", out);
		put_field(g->name, ",", out);
		fprintf(out, "%zu,%u,%u,%u,%.3f,%.3f,%.3f,%s\n", e + 1, epoch->constraint_mbps,
			epoch->slots, epoch->started, epoch->mean_s, (double)epoch->begin_ns / 1e9,
			(double)epoch->end_ns / 1e9, epoch_ends[epoch->end]);
	}
}

static void put_registry_rows(const char *trial, const struct leat_simulated_group *g, FILE *out)
{
	for (size_t e = 0; e < g->n_registry; e++) {
		put_field(trial, ",", out);
		put_field(g->name, ",", out);
		fprintf(out, "%u,%u,%" PRIu64 ",%.3f\n", g->registry[e].constraint_mbps,
			g->registry[e].slots, g->registry[e].slots_all, g->registry[e].mean_s);
	}
}

void leat_trials_write_csv(const struct leat_trials *t, const char *table, FILE *out)
{
	static const struct {
		const char *name, *head;
		void (*rows)(const char *trial, const struct leat_simulated_group *g, FILE *out);
	} tables[] = {
		{"trials",
		 "trial,total_s,io_task_s,throughput_mbps,io_at_a_time,learned_from,learned_s,"
		 "computing_units_used",
		 NULL},
		{"tasks",
		 "trial,task_type,storage_bw,io,tasks,mean_s,begin_s,end_s,last_constraint_mbps",
		 put_task_row},
		{"epochs",
		 "trial,task_type,epoch,constraint_mbps,slots,tasks,mean_s,begin_s,end_s,end",
		 put_epoch_rows},
		{"registry", "trial,task_type,constraint_mbps,slots,slots_all,mean_s",
		 put_registry_rows},
	};
	size_t which = 0;

	while (strcmp(tables[which].name, table) != 0)
		which++;
	fprintf(out, "%s\n", tables[which].head);
	for (size_t i = 0; i < t->w->n_trials; i++) {
		if (!tables[which].rows)
			put_trial_row(t, i, out);
		for (size_t g = 0; tables[which].rows && g < t->results[i].n_groups; g++)
			tables[which].rows(t->w->trials[i].text, &t->results[i].groups[g], out);
	}
}
