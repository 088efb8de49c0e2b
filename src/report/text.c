/* The report for a terminal. */
#include "report/text_internal.h"

#include "report/words.h"

#include <errno.h>
#include <string.h>

/* ---- overview ---- */

static void put_gap(void *ctx, const char *text)
{
	leat_text_paragraph(ctx, "INCOMPLETE: ", text);
}

static void put_sources(struct leat_report_text *t)
{
	for (unsigned i = 0; i < t->r->found.n_sources && i < t->top; i++) {
		const struct leat_report_source *s = &t->r->found.sources[i];
		char line[2000];

		snprintf(line, sizeof(line), "%s%s%s%s%s", s->host ? s->host : "(unknown machine)",
			 s->tracer ? ", traced by " : "", s->tracer ? s->tracer : "",
			 s->command ? ": " : "", s->command ? s->command : "");
		leat_text_paragraph(t, "", line);
	}
	leat_text_more(t, t->r->found.n_sources, "machines");
}

static void put_extent(const struct leat_report_text *t)
{
	char length[LEAT_WORD], calls[LEAT_WORD], tasks[LEAT_WORD], files[LEAT_WORD];
	int64_t begin_ns = t->a->begin_ns, end_ns = t->a->end_ns;

	fprintf(t->out, "%s, %s calls, %s %s, %s %s\n",
		leat_words_time(end_ns > begin_ns ? (uint64_t)(end_ns - begin_ns) : 0, length),
		leat_words_count(t->a->n_calls, calls), leat_words_count(t->r->n_tasks, tasks),
		t->r->n_tasks == 1 ? "task" : "tasks", leat_words_count(t->r->n_files, files),
		t->r->n_files == 1 ? "file" : "files");
}

static void put_unassociated(const struct leat_report_text *t)
{
	uint64_t calls = 0;
	char share[LEAT_WORD], line[300];

	if (!t->r->found.has_map)
		return;
	for (int i = 0; i < LEAT_ASSOCIATE_REASONS; i++)
		calls += t->r->found.unassociated[i].calls;
	if (!calls || !t->a->n_calls)
		return;
	for (int i = 0; i < LEAT_ASSOCIATE_REASONS; i++) {
		uint64_t n = t->r->found.unassociated[i].calls;

		if (!n)
			continue;
		snprintf(line, sizeof(line), "%s of the calls are no task's: %s",
			 leat_words_share((double)n / (double)t->a->n_calls, share),
			 leat_associate_reason_name((enum leat_associate_reason)i));
		fprintf(t->out, "%s\n", line);
	}
}

static void put_types(struct leat_report_text *t)
{
	static const struct {
		char type;
		const char *name;
	} types[] = {{'R', "read"},   {'W', "write"},  {'M', "map"},
		     {'O', "open"},   {'C', "create"}, {'X', "close"},
		     {'U', "unlink"}, {'N', "rename"}, {'T', "truncate"}};
	struct leat_grid g = {
		.titles = {"<call", "calls", "failed", "bytes", "in calls", "longest"}};
	char word[LEAT_WORD];

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const struct leat_calls *c =
			&t->a->calls[leat_analysis_type_index((enum leat_trace_type)types[i].type)];
		const struct leat_transfer *way = types[i].type == 'R'   ? &t->a->ways[LEAT_READ]
						  : types[i].type == 'W' ? &t->a->ways[LEAT_WRITTEN]
									 : NULL;

		if (!c->n)
			continue;
		leat_grid_row(&g);
		leat_grid_cell(&g, types[i].name);
		leat_grid_cell(&g, leat_words_count(c->n, word));
		leat_grid_cell(&g, c->failed ? leat_words_count(c->failed, word) : "");
		leat_grid_cell(&g, way ? leat_format_bytes(way->bytes, word) : "");
		leat_grid_cell(&g, leat_words_time(c->time_ns, word));
		leat_grid_cell(&g, way ? leat_words_time(way->longest_ns, word) : "");
	}
	leat_text_title(t, "CALLS");
	leat_text_grid(t, &g);
}

/* ---- over time ---- */

static void put_line(const struct leat_report_text *t, const char *name, enum leat_series_of of,
		     size_t used, int width)
{
	static const char *const blocks[] = {" ",
					     "\xe2\x96\x81",
					     "\xe2\x96\x82",
					     "\xe2\x96\x83",
					     "\xe2\x96\x84",
					     "\xe2\x96\x85",
					     "\xe2\x96\x86",
					     "\xe2\x96\x87",
					     "\xe2\x96\x88"};
	static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "%", "@"};
	double sums[LEAT_SERIES_PIECES] = {0}, most = 0;
	size_t columns = (size_t)width < used ? (size_t)width : used;
	double per = (double)used / (double)columns;
	char rate[LEAT_WORD];

	for (size_t i = 0; i < used; i++)
		sums[(size_t)((double)i / per)] += (double)t->a->series.v[i][of];
	for (size_t i = 0; i < columns; i++)
		most = sums[i] > most ? sums[i] : most;
	if (most <= 0)
		return;
	fprintf(t->out, "%-8s", name);
	for (size_t i = 0; i < columns; i++) {
		int level = (int)(sums[i] / most * 8 + 0.5);

		if (!level && sums[i] > 0)
			level = 1;
		fputs((t->utf8 ? blocks : letters)[level], t->out);
	}
	leat_format_rate(most / ((double)leat_series_piece_ns(&t->a->series) * per) * 1e9, rate);
	fprintf(t->out, "%*s  at most %s\n", width - (int)columns, "", rate);
}

static void put_series(struct leat_report_text *t)
{
	const struct leat_report_series *s = &t->a->series;
	int width = (t->width < 160 ? t->width : 160) - 32;
	size_t used = 0;
	char length[LEAT_WORD];

	for (size_t i = 0; i < LEAT_SERIES_PIECES; i++)
		if (s->v[i][LEAT_SERIES_READ] || s->v[i][LEAT_SERIES_WRITTEN])
			used = i + 1;
	if (used < 2)
		return;
	leat_words_time(used * leat_series_piece_ns(s), length);
	leat_text_title(t, "OVER TIME");
	fprintf(t->out, "%-8s0 s%*s\n", "", width - 3, length);
	put_line(t, "read", LEAT_SERIES_READ, used, width);
	put_line(t, "written", LEAT_SERIES_WRITTEN, used, width);
}

static void put_systems(struct leat_report_text *t)
{
	struct leat_grid g = {.titles = {"<file system", "<type", "read", "written", "in calls"}};
	char word[LEAT_WORD];

	/* The first is of what is not known. */
	if (t->a->n_systems < 2)
		return;
	for (uint32_t i = 0; i < t->a->n_systems; i++) {
		const struct leat_report_system *s = &t->a->systems[i];
		uint64_t time_ns = 0;

		for (size_t k = 0; k < LEAT_SERIES_PIECES; k++)
			time_ns += s->series.v[k][LEAT_SERIES_TIME];
		if (!time_ns)
			continue;
		leat_grid_row(&g);
		leat_grid_cell(&g, s->at ? s->at : "(not recorded)");
		leat_grid_cell(&g, s->type ? s->type : "");
		leat_grid_cell(&g, leat_format_bytes(s->bytes[LEAT_READ], word));
		leat_grid_cell(&g, leat_format_bytes(s->bytes[LEAT_WRITTEN], word));
		leat_grid_cell(&g, leat_words_time(time_ns, word));
	}
	leat_text_title(t, "FILE SYSTEMS");
	leat_text_grid(t, &g);
}

/* ---- tasks, files, and both ---- */

/* Of the bytes read, how many were read before by the same task. */
static double again(const struct leat_analysis *a, const struct leat_report_task *task)
{
	uint64_t bytes = 0, unique = 0;

	for (uint32_t i = task->pairs; i != UINT32_MAX; i = a->pairs[i].next) {
		bytes += leat_pair_bytes(&a->pairs[i], LEAT_READ);
		unique += leat_pair_unique(&a->pairs[i], LEAT_READ);
	}
	return bytes ? (double)(bytes - unique) / (double)bytes : 0;
}

static void put_tasks(struct leat_report_text *t)
{
	struct leat_grid g = {
		.titles = {"<task", "ran", "in calls", "read", "again", "written", "files", NULL}};
	char word[LEAT_WORD];
	bool waited = false;

	for (uint32_t i = 0; i < t->r->n_tasks; i++)
		waited |= t->a->tasks[t->r->tasks[i]].waited_ns != 0;
	if (waited)
		g.titles[7] = "waited";
	for (uint32_t i = 0; i < leat_text_least(t->r->n_tasks, t->top); i++) {
		const struct leat_report_task *task = &t->a->tasks[t->r->tasks[i]];

		leat_grid_row(&g);
		leat_grid_cell(&g, task->name);
		leat_grid_cell(&g, leat_words_time((uint64_t)leat_task_run_ns(task), word));
		leat_grid_cell(&g, leat_words_time(leat_calls_time_ns(task->calls), word));
		leat_grid_cell(&g, leat_format_bytes(task->ways[LEAT_READ].bytes, word));
		leat_grid_cell(&g, task->ways[LEAT_READ].bytes
					   ? leat_words_share(again(t->a, task), word)
					   : "");
		leat_grid_cell(&g, leat_format_bytes(task->ways[LEAT_WRITTEN].bytes, word));
		leat_grid_cell(&g, leat_words_count(task->n_pairs, word));
		if (waited)
			leat_grid_cell(&g, leat_words_time(task->waited_ns, word));
	}
	leat_text_title(t, "TASKS, by the time in calls");
	leat_text_grid(t, &g);
	leat_text_more(t, t->r->n_tasks, "tasks");
}

static void put_files(struct leat_report_text *t)
{
	struct leat_grid g = {.titles = {"<file", "written", "read", "in calls", NULL}};
	char word[LEAT_WORD], unnamed[LEAT_WORD];

	for (uint32_t i = 0; i < leat_text_least(t->r->n_files, t->top); i++)
		if (t->a->files[t->r->files[i]].inside)
			g.titles[4] = "<in a container";

	for (uint32_t i = 0; i < leat_text_least(t->r->n_files, t->top); i++) {
		const struct leat_report_file *f = &t->a->files[t->r->files[i]];

		leat_grid_row(&g);
		leat_grid_cell(&g, leat_words_file(t->r, t->r->files[i], unnamed));
		leat_grid_cell(&g, leat_format_bytes(f->bytes[LEAT_WRITTEN], word));
		leat_grid_cell(&g, leat_format_bytes(f->bytes[LEAT_READ], word));
		leat_grid_cell(&g, leat_words_time(f->time_ns, word));
		if (g.titles[4])
			leat_grid_cell(&g, f->inside ? f->inside : "");
	}
	leat_text_title(t, "FILES, by bytes");
	leat_text_grid(t, &g);
	leat_text_more(t, t->r->n_files, "files");
}

/* ---- all ---- */

static void put_hints(struct leat_report_text *t)
{
	if (!t->r->n_hints)
		return;
	leat_text_title(t, "HINTS, by the time in calls that they are about");
	for (size_t i = 0; i < t->r->n_hints && i < t->top; i++) {
		char lead[64], cost[LEAT_WORD];

		snprintf(lead, sizeof(lead), "%8s  ",
			 leat_words_time(t->r->hints[i].cost_ns, cost));
		leat_text_paragraph(t, lead, t->r->hints[i].text);
	}
	leat_text_more(t, (uint32_t)t->r->n_hints, "hints");
}

int leat_report_write_text(const struct leat_report *r, FILE *out, int width, bool utf8,
			   uint32_t top)
{
	struct leat_report_text t = {.r = r,
				     .a = r->found.analysis,
				     .out = out,
				     .width = width > 60 ? width : 60,
				     .utf8 = utf8,
				     .top = top};

	leat_report_say_gaps(r, put_gap, &t);
	put_sources(&t);
	put_extent(&t);
	put_unassociated(&t);
	put_hints(&t);
	put_types(&t);
	put_series(&t);
	put_tasks(&t);
	put_files(&t);
	leat_text_put_pairs(&t);
	leat_text_put_waits(&t);
	leat_text_put_sizes(&t, LEAT_READ);
	leat_text_put_sizes(&t, LEAT_WRITTEN);
	put_systems(&t);
	errno = 0;
	if (!t.error && (fflush(out) || ferror(out)))
		t.error = errno ? -errno : -EIO;
	return t.error;
}
