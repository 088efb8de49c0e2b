/* The report for a terminal. */
#include "report/text_internal.h"

#include "report/columns.h"
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

static void put_unattributed(const struct leat_report_text *t)
{
	uint64_t calls = 0;
	char share[LEAT_WORD], line[300];

	if (!t->r->found.has_map)
		return;
	for (int i = 0; i < LEAT_ASSOCIATE_REASONS; i++)
		calls += t->r->found.unattributed[i].calls;
	if (!calls || !t->a->n_calls)
		return;
	for (int i = 0; i < LEAT_ASSOCIATE_REASONS; i++) {
		uint64_t n = t->r->found.unattributed[i].calls;

		if (!n)
			continue;
		snprintf(line, sizeof(line), "%s of the calls are unattributed: %s",
			 leat_words_share((double)n / (double)t->a->n_calls, share),
			 leat_associate_reason_name((enum leat_associate_reason)i));
		fprintf(t->out, "%s\n", line);
	}
}

static void put_types(struct leat_report_text *t)
{
	static const enum leat_trace_type order[] = {
		LEAT_TRACE_READ,   LEAT_TRACE_WRITE,  LEAT_TRACE_MAP,
		LEAT_TRACE_OPEN,   LEAT_TRACE_CREATE, LEAT_TRACE_CLOSE,
		LEAT_TRACE_UNLINK, LEAT_TRACE_RENAME, LEAT_TRACE_TRUNCATE};
	struct leat_grid g = {0};

	leat_columns_begin_text(&leat_columns_calls, &g);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct leat_row row = {t->r, (uint32_t)leat_analysis_type_index(order[i]), 0};

		if (t->a->calls[row.index].n)
			leat_columns_put_text(&leat_columns_calls, &row, &g);
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
	struct leat_grid g = {0};

	/* The first is of what is not known. */
	if (t->a->n_systems < 2)
		return;
	leat_columns_begin_text(&leat_columns_systems, &g);
	for (uint32_t i = 0; i < t->a->n_systems; i++) {
		uint64_t time_ns = 0;

		for (size_t k = 0; k < LEAT_SERIES_PIECES; k++)
			time_ns += t->a->systems[i].series.v[k][LEAT_SERIES_TIME];
		if (time_ns)
			leat_columns_put_text(&leat_columns_systems, &(struct leat_row){t->r, i, 0},
					      &g);
	}
	leat_text_title(t, "FILE SYSTEMS");
	leat_text_grid(t, &g);
}

/* ---- tasks and files ---- */

/* The first rows of the table, by their indices in the analysis. */
static void put_table(struct leat_report_text *t, const struct leat_columns *columns,
		      const char *title, const uint32_t *indices, uint32_t n, const char *what)
{
	struct leat_grid g = {0};

	leat_columns_begin_text(columns, &g);
	for (uint32_t i = 0; i < leat_text_least(n, t->top); i++)
		leat_columns_put_text(columns, &(struct leat_row){t->r, indices[i], 0}, &g);
	leat_text_title(t, title);
	leat_text_grid(t, &g);
	leat_text_more(t, n, what);
}

/* ---- all ---- */

static void put_hints(struct leat_report_text *t)
{
	if (!t->r->n_hints)
		return;
	leat_text_title(t, "HINTS, by the time in the calls concerned");
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

	leat_report_list_gaps(r, put_gap, &t);
	put_sources(&t);
	put_extent(&t);
	put_unattributed(&t);
	put_hints(&t);
	put_types(&t);
	put_series(&t);
	put_table(&t, &leat_columns_tasks, "TASKS, by the time in calls", r->tasks, r->n_tasks,
		  "tasks");
	put_table(&t, &leat_columns_files, "FILES, by bytes", r->files, r->n_files, "files");
	leat_text_put_edges(&t);
	leat_text_put_waits(&t);
	leat_text_put_sizes(&t, LEAT_READ);
	leat_text_put_sizes(&t, LEAT_WRITTEN);
	put_systems(&t);
	errno = 0;
	if (!t.error && (fflush(out) || ferror(out)))
		t.error = errno ? -errno : -EIO;
	return t.error;
}
