/* The report as one JSON document, which is also what its page draws. */
#include "report/report.h"

#include "base/json.h"
#include "report/columns.h"
#include "report/words.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

const struct leat_report_extent leat_report_whole = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
						     UINT32_MAX};
const struct leat_report_extent leat_report_page = {300, 1000, 4000, 100, 60};

struct data {
	const struct leat_report *r;
	const struct leat_analysis *a;
	const struct leat_report_extent *extent;
	struct leat_json j;
	int64_t begin_ns; /* what times are counted from */
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint64_t since_us(const struct data *d, int64_t ns)
{
	return ns > d->begin_ns ? ((uint64_t)ns - (uint64_t)d->begin_ns) / 1000 : 0;
}

/* Tasks may have begun before the trace. */
static int64_t find_begin(const struct leat_analysis *a)
{
	int64_t begin_ns = a->begin_ns;

	for (uint32_t i = 0; i < a->n_tasks; i++) {
		int64_t task_ns = leat_task_begin_ns(&a->tasks[i]);

		if (task_ns && task_ns < begin_ns)
			begin_ns = task_ns;
	}
	return begin_ns;
}

/* ---- parts that many have ---- */

static void put_row(struct data *d, const struct leat_columns *columns, uint32_t index)
{
	leat_columns_put_json(columns, &(struct leat_row){d->r, index, 0}, &d->j);
}

static void put_sizes(struct data *d, const uint64_t sizes[LEAT_ANALYSIS_BINS])
{
	int used = 0;

	for (int i = 0; i < LEAT_ANALYSIS_BINS; i++)
		if (sizes[i])
			used = i + 1;
	leat_json_list(&d->j, "sizes", true);
	for (int i = 0; i < used; i++)
		leat_json_number(&d->j, NULL, sizes[i]);
	leat_json_close(&d->j);
}

static void put_transfer(struct data *d, const struct leat_transfer *t)
{
	leat_json_number(&d->j, "calls", t->calls);
	leat_json_number(&d->j, "failed", t->failed);
	leat_json_number(&d->j, "bytes", t->bytes);
	leat_json_number(&d->j, "asked", t->asked);
	leat_json_number(&d->j, "time_ns", t->time_ns);
	leat_json_number(&d->j, "longest_ns", t->longest_ns);
	leat_json_number(&d->j, "sequential", t->sequential);
	leat_json_number(&d->j, "up", t->up);
	leat_json_number(&d->j, "down", t->down);
	put_sizes(d, t->sizes);
}

static const char *const way_names[LEAT_WAYS] = {"read", "written"};

static void put_ways(struct data *d, const struct leat_transfer ways[LEAT_WAYS])
{
	for (int way = 0; way < LEAT_WAYS; way++) {
		if (!ways[way].calls)
			continue;
		leat_json_object(&d->j, way_names[way], true);
		put_transfer(d, &ways[way]);
		leat_json_close(&d->j);
	}
}

/* `all`: these are the report's own, and have the columns of its table. */
static void put_types(struct data *d, const struct leat_calls calls[LEAT_ANALYSIS_TYPES], bool all)
{
	leat_json_object(&d->j, "types", true);
	for (int i = 0; i < LEAT_ANALYSIS_TYPES; i++) {
		if (!calls[i].n)
			continue;
		leat_json_object(&d->j, leat_call_names[i], true);
		leat_json_number(&d->j, "calls", calls[i].n);
		leat_json_number(&d->j, "failed", calls[i].failed);
		leat_json_number(&d->j, "time_ns", calls[i].time_ns);
		if (all)
			put_row(d, &leat_columns_calls, (uint32_t)i);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

static void put_line(struct data *d, const char *name, const struct leat_report_series *s,
		     enum leat_series_of of, uint64_t unit)
{
	size_t used = 0;

	for (size_t i = 0; i < LEAT_SERIES_PIECES; i++)
		if (s->v[i][of] / unit)
			used = i + 1;
	leat_json_list(&d->j, name, true);
	for (size_t i = 0; i < used; i++)
		leat_json_number(&d->j, NULL, s->v[i][of] / unit);
	leat_json_close(&d->j);
}

static void put_series(struct data *d, const struct leat_report_series *s)
{
	leat_json_object(&d->j, "series", true);
	put_line(d, "read", s, LEAT_SERIES_READ, 1);
	put_line(d, "written", s, LEAT_SERIES_WRITTEN, 1);
	put_line(d, "time_us", s, LEAT_SERIES_TIME, 1000);
	leat_json_close(&d->j);
}

static void put_bytes(struct data *d, const uint64_t bytes[LEAT_WAYS])
{
	leat_json_number(&d->j, "read", bytes[LEAT_READ]);
	leat_json_number(&d->j, "written", bytes[LEAT_WRITTEN]);
}

static void put_text(struct data *d, const char *key, const char *text)
{
	if (text)
		leat_json_string(&d->j, key, text);
}

/* ---- the traces ---- */

static void put_gap(void *ctx, const char *text)
{
	struct data *d = ctx;

	leat_json_string(&d->j, NULL, text);
}

static void put_source(struct data *d, const struct leat_report_source *s)
{
	leat_json_object(&d->j, NULL, true);
	put_text(d, "host", s->host);
	put_text(d, "tracer", s->tracer);
	put_text(d, "command", s->command);
	leat_json_bool(&d->j, "complete", s->tail.complete || s->foreign);
	leat_json_object(&d->j, "lost", true);
	for (int i = 0; i < LEAT_TRACE_LOSSES; i++)
		if (s->tail.lost[i])
			leat_json_number(&d->j, leat_trace_loss_name((enum leat_trace_loss)i),
					 s->tail.lost[i]);
	leat_json_close(&d->j);
	leat_json_list(&d->j, "unseen", false);
	for (size_t i = 0; i < s->n_unseen; i++) {
		leat_json_object(&d->j, NULL, true);
		leat_json_string(&d->j, "program", s->unseen[i].program);
		leat_json_number(&d->j, "times", s->unseen[i].times);
		if (s->unseen[i].why)
			leat_json_string(&d->j, "why", s->unseen[i].why);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
	leat_json_close(&d->j);
}

static void put_began(struct data *d)
{
	time_t seconds = (time_t)(d->begin_ns / 1000000000);
	char text[40];
	struct tm tm;

	if (d->begin_ns > 0 && gmtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		leat_json_string(&d->j, "began", text);
}

static void put_unattributed(struct data *d)
{
	leat_json_number(&d->j, "attributed_calls", d->r->found.attributed_calls);
	leat_json_list(&d->j, "unattributed", false);
	for (int i = 0; i < LEAT_ASSOCIATE_REASONS; i++) {
		const struct leat_report_unattributed *u = &d->r->found.unattributed[i];

		if (!u->calls)
			continue;
		leat_json_object(&d->j, NULL, true);
		leat_json_string(&d->j, "reason",
				 leat_associate_reason_name((enum leat_associate_reason)i));
		leat_json_number(&d->j, "calls", u->calls);
		leat_json_number(&d->j, "bytes", u->bytes);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

static void put_overview(struct data *d)
{
	const struct leat_analysis *a = d->a;

	leat_json_string(&d->j, "leat", LEAT_VERSION);
	leat_json_bool(&d->j, "partial", leat_report_is_partial(d->r));
	leat_json_list(&d->j, "gaps", false);
	leat_report_list_gaps(d->r, put_gap, d);
	leat_json_close(&d->j);
	leat_json_list(&d->j, "sources", false);
	for (unsigned i = 0; i < d->r->found.n_sources; i++)
		put_source(d, &d->r->found.sources[i]);
	leat_json_close(&d->j);
	leat_json_bool(&d->j, "workflow", d->r->found.has_map);
	put_unattributed(d);
	put_began(d);
	leat_json_number(&d->j, "length_us", since_us(d, a->end_ns));
	leat_json_number(&d->j, "series_begin_us", since_us(d, a->begin_ns));
	leat_json_real(&d->j, "piece_us", (double)leat_series_piece_ns(&a->series) / 1000);
	leat_json_number(&d->j, "calls", a->n_calls);
	leat_json_number(&d->j, "processes", a->n_processes);
	put_types(d, a->calls, true);
	put_ways(d, a->ways);
	put_series(d, &a->series);
}

static void put_left_out(struct data *d)
{
	const struct leat_report *r = d->r;
	const struct leat_report_extent *e = d->extent;

	leat_json_object(&d->j, "left_out", true);
	leat_json_number(&d->j, "tasks", r->n_tasks - least(r->n_tasks, e->tasks));
	leat_json_number(&d->j, "files", r->n_files - least(r->n_files, e->files));
	leat_json_number(&d->j, "edges", r->n_edges - least(r->n_edges, e->edges));
	leat_json_number(&d->j, "hints", r->n_hints > e->hints ? r->n_hints - e->hints : 0);
	leat_json_close(&d->j);
}

/* ---- nodes and file systems ---- */

static void put_nodes(struct data *d)
{
	leat_json_list(&d->j, "nodes", false);
	for (uint32_t i = 0; i < d->a->n_nodes; i++) {
		const struct leat_report_node *n = &d->a->nodes[i];

		leat_json_object(&d->j, NULL, true);
		leat_json_number(&d->j, "id", i);
		if (i < d->r->found.n_sources)
			put_text(d, "host", d->r->found.sources[i].host);
		put_bytes(d, n->bytes);
		put_series(d, &n->series);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

static void put_systems(struct data *d)
{
	leat_json_list(&d->j, "systems", false);
	for (uint32_t i = 0; i < d->a->n_systems; i++) {
		const struct leat_report_system *s = &d->a->systems[i];

		leat_json_object(&d->j, NULL, true);
		leat_json_number(&d->j, "id", i);
		put_text(d, "at", s->at);
		leat_json_number(&d->j, "node", s->node);
		put_row(d, &leat_columns_systems, i);
		put_series(d, &s->series);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

/* ---- tasks ---- */

static void put_task(struct data *d, uint32_t i)
{
	static const char *const origins[] = {[LEAT_REPORT_TASK] = "task",
					      [LEAT_REPORT_PROGRAM] = "program",
					      [LEAT_REPORT_OTHERS] = "others"};
	const struct leat_report_task *t = &d->a->tasks[i];

	leat_json_object(&d->j, NULL, true);
	leat_json_number(&d->j, "id", i);
	put_row(d, &leat_columns_tasks, i);
	leat_json_string(&d->j, "logical", t->logical ? t->logical : t->name);
	put_text(d, "workflow", t->workflow);
	leat_json_string(&d->j, "origin", origins[t->origin]);
	put_text(d, "evidence", t->evidence);
	leat_json_number(&d->j, "begin_us", since_us(d, leat_task_begin_ns(t)));
	put_types(d, t->calls, false);
	put_ways(d, t->ways);
	put_series(d, &t->series);
	leat_json_close(&d->j);
}

/* ---- files ---- */

static void put_spans(struct data *d, const struct leat_spans *s)
{
	uint64_t shift_us = since_us(d, d->a->begin_ns);

	leat_json_bool(&d->j, "each_call", !s->time_shift);
	leat_json_list(&d->j, "spans", true);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct leat_span *p = &s->v[i];

		leat_json_list(&d->j, NULL, true);
		leat_json_number(&d->j, NULL, shift_us + p->begin_ns / 1000);
		leat_json_number(&d->j, NULL, shift_us + p->end_ns / 1000);
		leat_json_number(&d->j, NULL, p->from);
		leat_json_number(&d->j, NULL, p->to);
		leat_json_number(&d->j, NULL, p->bytes);
		leat_json_number(&d->j, NULL, p->calls);
		leat_json_number(&d->j, NULL, p->task);
		leat_json_number(&d->j, NULL, p->write);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

static void put_file(struct data *d, uint32_t i, bool spans)
{
	const struct leat_report_file *f = &d->a->files[i];

	leat_json_object(&d->j, NULL, true);
	leat_json_number(&d->j, "id", i);
	put_row(d, &leat_columns_files, i);
	if (!f->shared)
		leat_json_number(&d->j, "node", f->node);
	leat_json_number(&d->j, "system", f->system);
	if (f->folded)
		leat_json_bool(&d->j, "folded", true);
	if (f->replaced)
		leat_json_bool(&d->j, "replaced", true);
	if (f->removed)
		leat_json_bool(&d->j, "removed", true);
	if (spans)
		put_spans(d, &f->spans);
	leat_json_close(&d->j);
}

/* ---- edges ---- */

static void put_way(struct data *d, const struct leat_report_edge *p, enum leat_way way)
{
	uint64_t bytes = leat_edge_bytes(p, way), unique = leat_edge_unique(p, way);

	leat_json_object(&d->j, way_names[way], true);
	leat_json_number(&d->j, "unique", unique);
	leat_json_number(&d->j, "repeated", bytes - unique);
	leat_json_bool(&d->j, "exact", leat_coverage_is_exact(&p->ways[way]->coverage));
	if (p->way_ns[way][0]) {
		leat_json_number(&d->j, "first_us", since_us(d, p->way_ns[way][0]));
		leat_json_number(&d->j, "last_us", since_us(d, p->way_ns[way][1]));
	}
	put_transfer(d, &p->ways[way]->sum);
	leat_columns_put_json(&leat_columns_edges,
			      &(struct leat_row){d->r, (uint32_t)(p - d->a->edges), way}, &d->j);
	leat_json_close(&d->j);
}

static void put_edge(struct data *d, const struct leat_report_edge *p)
{
	double bulkiness = leat_edge_bulkiness(d->a, p);

	leat_json_object(&d->j, NULL, true);
	leat_json_number(&d->j, "task", p->task);
	leat_json_number(&d->j, "file", p->file);
	put_types(d, p->calls, false);
	if (p->opened_ns)
		leat_json_number(&d->j, "opened_us", since_us(d, p->opened_ns));
	if (bulkiness >= 0) {
		leat_json_number(&d->j, "first_us", since_us(d, p->first_ns));
		leat_json_number(&d->j, "last_us", since_us(d, p->last_ns));
		leat_json_real(&d->j, "bulkiness", bulkiness);
	}
	for (int way = 0; way < LEAT_WAYS; way++)
		if (p->ways[way])
			put_way(d, p, (enum leat_way)way);
	if (p->read_back)
		leat_json_number(&d->j, "read_back", p->read_back);
	if (p->mapped_bytes) {
		leat_json_number(&d->j, "mapped_bytes", p->mapped_bytes);
		leat_json_bool(&d->j, "mapped_to_read", p->mapped[LEAT_READ]);
		leat_json_bool(&d->j, "mapped_to_write", p->mapped[LEAT_WRITTEN]);
	}
	leat_json_close(&d->j);
}

/* ---- all ---- */

static void put_hints(struct data *d)
{
	leat_json_list(&d->j, "hints", false);
	for (size_t i = 0; i < d->r->n_hints && i < d->extent->hints; i++) {
		const struct leat_hint *h = &d->r->hints[i];

		leat_json_object(&d->j, NULL, true);
		leat_json_string(&d->j, "kind", h->kind);
		if (h->task != UINT32_MAX)
			leat_json_number(&d->j, "task", h->task);
		if (h->file != UINT32_MAX)
			leat_json_number(&d->j, "file", h->file);
		if (h->reader != UINT32_MAX)
			leat_json_number(&d->j, "reader", h->reader);
		leat_json_number(&d->j, "cost_ns", h->cost_ns);
		leat_json_string(&d->j, "text", h->text);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

static void put_waits(struct data *d)
{
	const struct leat_report_found *f = &d->r->found;

	leat_json_list(&d->j, "waits", false);
	for (uint32_t i = 0; i < f->n_waits && i < d->extent->edges; i++) {
		leat_json_object(&d->j, NULL, true);
		put_row(d, &leat_columns_waits, i);
		if (f->waits[i].task != UINT32_MAX)
			leat_json_number(&d->j, "task", f->waits[i].task);
		leat_json_close(&d->j);
	}
	leat_json_close(&d->j);
}

static void put_tables(struct data *d)
{
	const struct leat_report *r = d->r;

	leat_json_list(&d->j, "tasks", false);
	for (uint32_t i = 0; i < least(r->n_tasks, d->extent->tasks); i++)
		put_task(d, r->tasks[i]);
	leat_json_close(&d->j);
	leat_json_list(&d->j, "files", false);
	for (uint32_t i = 0; i < least(r->n_files, d->extent->files); i++)
		put_file(d, r->files[i], i < d->extent->spans);
	leat_json_close(&d->j);
	leat_json_list(&d->j, "edges", false);
	for (uint32_t i = 0; i < least(r->n_edges, d->extent->edges); i++)
		put_edge(d, &d->a->edges[r->edges[i]]);
	leat_json_close(&d->j);
}

int leat_report_write_json(const struct leat_report *r, const struct leat_report_extent *extent,
			   FILE *out)
{
	struct data d = {.r = r,
			 .a = r->found.analysis,
			 .extent = extent,
			 .j = {.out = out},
			 .begin_ns = find_begin(r->found.analysis)};

	leat_json_object(&d.j, NULL, false);
	put_overview(&d);
	leat_columns_describe(&d.j);
	put_left_out(&d);
	put_hints(&d);
	put_waits(&d);
	put_nodes(&d);
	put_systems(&d);
	put_tables(&d);
	leat_json_close(&d.j);
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
