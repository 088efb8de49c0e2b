#include "report/analyse_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char leat_analysis_types[LEAT_ANALYSIS_TYPES + 1] = "OCRWXUNTM";

const struct leat_analysis_limits leat_analysis_limits = {
	.tasks = 10000,
	.files = 50000,
	.edges = 100000,
	.handles = 200000,
	.coverage = {.bytes = 64 << 20, .most = 1024},
	.spans = {.bytes = 64 << 20, .most = 1024},
};

enum { PROTECTION_READ = 1, PROTECTION_WRITE = 2 }; /* PROT_*, the same on all of Linux */

int leat_analysis_type_index(enum leat_trace_type type)
{
	const char *at = type ? strchr(leat_analysis_types, (int)type) : NULL;

	return at ? (int)(at - leat_analysis_types) : LEAT_ANALYSIS_TYPES;
}

/* ---- times ---- */

/* A trace may say anything: what is told of times before 1970 is taken for that, so that the
 * difference of two is one. */
static int64_t sane(int64_t time_ns)
{
	return time_ns > 0 ? time_ns : 0;
}

/* From `a` to `b`, whatever clocks did: 0 if that is backwards. */
static uint64_t elapsed(int64_t a, int64_t b)
{
	return b > a ? (uint64_t)b - (uint64_t)a : 0;
}

/* Since the beginning of the report. */
static uint64_t since(const struct leat_analysis *a, int64_t time_ns)
{
	return elapsed(a->begin_ns, time_ns);
}

static void begin(struct leat_analysis *a, int64_t time_ns)
{
	if (!a->begin_ns)
		a->begin_ns = time_ns;
}

static void extend_life(struct leat_report_task *t, int64_t from_ns, int64_t to_ns)
{
	if (!t->first_ns || from_ns < t->first_ns)
		t->first_ns = from_ns;
	if (to_ns > t->last_ns)
		t->last_ns = to_ns;
}

void leat_analysis_alive(struct leat_analysis *a, uint32_t task, int64_t time_ns)
{
	time_ns = sane(time_ns);
	begin(a, time_ns);
	extend_life(&a->tasks[task], time_ns, time_ns);
}

/* ---- sums ---- */

static int bin(uint64_t size)
{
	int b = size ? 64 - __builtin_clzll(size) : 0;

	return b < LEAT_ANALYSIS_BINS ? b : LEAT_ANALYSIS_BINS - 1;
}

enum order { FIRST, SEQUENTIAL, UP, DOWN };

static void add_transfer(struct leat_transfer *t, const struct leat_trace_call *c, enum order order)
{
	uint64_t time_ns = elapsed(c->start_ns, c->end_ns);

	t->calls++;
	t->time_ns += time_ns;
	if (time_ns > t->longest_ns)
		t->longest_ns = time_ns;
	t->asked += c->size;
	t->sizes[bin(c->size)]++;
	if (c->result < 0) {
		t->failed++;
		return;
	}
	t->bytes += (uint64_t)c->result;
	t->sequential += order == SEQUENTIAL;
	t->up += order == UP;
	t->down += order == DOWN;
}

static void add_call(struct leat_calls *calls, int type, const struct leat_trace_call *c)
{
	calls[type].n++;
	calls[type].failed += c->result < 0;
	calls[type].time_ns += elapsed(c->start_ns, c->end_ns);
}

/* What a call is in a series. */
struct moment {
	uint64_t begin_ns, end_ns, bytes;
	enum leat_series_of way;
};

static struct moment moment_of(const struct leat_analysis *a, const struct leat_trace_call *c)
{
	bool writes = c->type == LEAT_TRACE_WRITE;

	return (struct moment){.begin_ns = since(a, c->start_ns),
			       .end_ns = since(a, c->end_ns),
			       .bytes = c->result > 0 && (writes || c->type == LEAT_TRACE_READ)
						? (uint64_t)c->result
						: 0,
			       .way = writes ? LEAT_SERIES_WRITTEN : LEAT_SERIES_READ};
}

static void add_series(struct leat_report_series *s, const struct moment *m)
{
	leat_series_add(s, m->way, m->begin_ns, m->end_ns, m->bytes);
}

/* ---- READ and WRITE ---- */

static uint64_t end_of(const struct leat_trace_call *c)
{
	uint64_t n = c->result > 0 ? (uint64_t)c->result : 0;

	return c->offset > UINT64_MAX - n ? UINT64_MAX : c->offset + n;
}

static enum order order_of(struct leat_report_handle *h, const struct leat_trace_call *c)
{
	enum order order = SEQUENTIAL;

	if (!h || c->result < 0)
		return FIRST;
	if (h->placed && c->offset != h->at)
		order = c->offset > h->at ? UP : DOWN;
	h->placed = true;
	h->at = end_of(c);
	return order;
}

static void set_access(struct leat_report_edge *p, const struct leat_trace_call *c)
{
	if (!p->first_ns || c->start_ns < p->first_ns)
		p->first_ns = c->start_ns;
	if (c->end_ns > p->last_ns)
		p->last_ns = c->end_ns;
}

static void set_way(int64_t way_ns[2], const struct leat_trace_call *c)
{
	if (!way_ns[0] || c->start_ns < way_ns[0])
		way_ns[0] = c->start_ns;
	if (c->end_ns > way_ns[1])
		way_ns[1] = c->end_ns;
}

/* Which bytes it were: not of files that stand for many. */
static int add_place(struct leat_analysis *a, struct leat_report_edge *p,
		     const struct leat_trace_call *c, enum leat_way way)
{
	struct leat_report_file *f = &a->files[p->file];
	const struct leat_transfer_of_file *written = p->ways[LEAT_WRITTEN];
	struct leat_span span = {.begin_ns = since(a, c->start_ns),
				 .end_ns = since(a, c->end_ns),
				 .from = c->offset,
				 .to = end_of(c),
				 .bytes = (uint64_t)c->result,
				 .calls = 1,
				 .task = p->task & INT32_MAX,
				 .write = way == LEAT_WRITTEN};
	int error;

	if (f->folded || f->device || !c->result)
		return 0;
	if (way == LEAT_READ && written)
		p->read_back += leat_coverage_overlap(&written->coverage, span.from, span.to);
	error = leat_coverage_add(&p->ways[way]->coverage, span.from, span.to, &a->limits.coverage);
	return error ? error : leat_spans_add(&f->spans, &span, &a->limits.spans);
}

static int add_moved(struct leat_analysis *a, unsigned node, struct leat_report_edge *p,
		     struct leat_report_handle *h, const struct leat_trace_call *c)
{
	enum leat_way way = c->type == LEAT_TRACE_READ ? LEAT_READ : LEAT_WRITTEN;
	struct leat_report_file *f = &a->files[p->file];
	enum order order = order_of(f->device ? NULL : h, c);

	if (f->device && c->result >= 0)
		order = SEQUENTIAL;
	if (!p->ways[way])
		p->ways[way] = calloc(1, sizeof(*p->ways[way]));
	if (!p->ways[way])
		return -ENOMEM;
	add_transfer(&p->ways[way]->sum, c, order);
	add_transfer(&a->tasks[p->task].ways[way], c, order);
	if (c->result < 0)
		return 0;
	f->bytes[way] += (uint64_t)c->result;
	a->systems[f->system].bytes[way] += (uint64_t)c->result;
	a->nodes[node].bytes[way] += (uint64_t)c->result;
	set_access(p, c);
	set_way(p->way_ns[way], c);
	return add_place(a, p, c, way);
}

static void add_mapped(struct leat_report_edge *p, const struct leat_trace_call *c)
{
	if (c->result < 0)
		return;
	p->mapped_bytes += c->size;
	p->mapped[LEAT_READ] |= (c->flags & PROTECTION_READ) != 0;
	p->mapped[LEAT_WRITTEN] |= (c->flags & PROTECTION_WRITE) != 0;
	set_access(p, c);
}

/* ---- one call ---- */

static int find_edge(struct leat_analysis *a, uint32_t task, uint32_t file,
		     struct leat_report_handle *h, uint32_t *edge)
{
	int error;

	if (h && h->task == task && h->edge != UINT32_MAX) {
		*edge = h->edge;
		return 0;
	}
	error = leat_analysis_find_edge(a, task, file, edge);
	if (!error && h) {
		h->task = task;
		h->edge = *edge;
	}
	return error;
}

static int add_to_file(struct leat_analysis *a, unsigned node, uint32_t task, int type,
		       const struct leat_trace_call *c, const struct moment *m)
{
	struct leat_report_handle *h;
	struct leat_report_edge *p;
	uint32_t file, edge;
	int error = leat_analysis_find_file(a, node, c, &file, &h);

	if (!error)
		error = find_edge(a, task, file, h, &edge);
	if (error)
		return error;
	p = &a->edges[edge];
	add_call(p->calls, type, c);
	a->files[p->file].time_ns += elapsed(c->start_ns, c->end_ns);
	add_series(&a->systems[a->files[p->file].system].series, m);
	if (c->type == LEAT_TRACE_OPEN || c->type == LEAT_TRACE_CREATE) {
		a->files[file].removed = false;
		if (!p->opened_ns)
			p->opened_ns = c->start_ns;
	}
	if (c->type == LEAT_TRACE_READ || c->type == LEAT_TRACE_WRITE)
		error = add_moved(a, node, p, h, c);
	else if (c->type == LEAT_TRACE_MAP)
		add_mapped(p, c);
	return error;
}

static int change_names(struct leat_analysis *a, unsigned node, const struct leat_trace_call *c)
{
	if (c->result < 0)
		return 0;
	switch (c->type) {
	case LEAT_TRACE_CLOSE:
		leat_analysis_close(a, node, c->handle);
		return 0;
	case LEAT_TRACE_UNLINK:
		return leat_analysis_unlink(a, node, c);
	case LEAT_TRACE_RENAME:
		return leat_analysis_rename(a, node, c);
	default:
		return 0;
	}
}

int leat_analysis_call(struct leat_analysis *a, unsigned node, uint32_t task,
		       const struct leat_trace_call *reported)
{
	struct leat_trace_call call = *reported, *c = &call;
	int type = leat_analysis_type_index(c->type);
	struct moment m;
	int error = 0;

	if (type == LEAT_ANALYSIS_TYPES)
		return 0;
	if (!leat_analysis_node(a, node))
		return -ENOMEM;
	c->start_ns = sane(c->start_ns);
	c->end_ns = sane(c->end_ns);
	begin(a, c->start_ns);
	if (c->end_ns > a->end_ns)
		a->end_ns = c->end_ns;
	a->n_calls++;
	extend_life(&a->tasks[task], c->start_ns, c->end_ns);
	m = moment_of(a, c);
	add_call(a->tasks[task].calls, type, c);
	add_series(&a->tasks[task].series, &m);
	add_series(&a->nodes[node].series, &m);
	/* A name that could not be opened or removed need not be a file's. */
	if (c->result >= 0 || c->handle)
		error = add_to_file(a, node, task, type, c, &m);
	return error ? error : change_names(a, node, c);
}

/* ---- the end ---- */

static void level_series(struct leat_analysis *a)
{
	uint8_t level = a->series.level;

	for (uint32_t i = 0; i < a->n_tasks; i++)
		leat_series_widen(&a->tasks[i].series, level);
	for (uint32_t i = 0; i < a->n_nodes; i++)
		leat_series_widen(&a->nodes[i].series, level);
	for (uint32_t i = 0; i < a->n_systems; i++)
		leat_series_widen(&a->systems[i].series, level);
}

static void add_all(struct leat_transfer *to, const struct leat_transfer *t)
{
	to->calls += t->calls;
	to->failed += t->failed;
	to->bytes += t->bytes;
	to->asked += t->asked;
	to->time_ns += t->time_ns;
	if (t->longest_ns > to->longest_ns)
		to->longest_ns = t->longest_ns;
	to->sequential += t->sequential;
	to->up += t->up;
	to->down += t->down;
	for (int i = 0; i < LEAT_ANALYSIS_BINS; i++)
		to->sizes[i] += t->sizes[i];
}

static void add_up(struct leat_analysis *a)
{
	for (uint32_t i = 0; i < a->n_tasks; i++) {
		const struct leat_report_task *t = &a->tasks[i];

		for (int way = 0; way < LEAT_WAYS; way++)
			add_all(&a->ways[way], &t->ways[way]);
		for (int type = 0; type < LEAT_ANALYSIS_TYPES; type++) {
			a->calls[type].n += t->calls[type].n;
			a->calls[type].failed += t->calls[type].failed;
			a->calls[type].time_ns += t->calls[type].time_ns;
		}
	}
	for (uint32_t i = 0; i < a->n_nodes; i++)
		leat_series_add_all(&a->series, &a->nodes[i].series);
}

void leat_analysis_finish(struct leat_analysis *a)
{
	add_up(a);
	level_series(a);
	for (uint32_t i = 0; i < a->n_files; i++)
		leat_spans_finish(&a->files[i].spans, &a->limits.spans);
	for (uint32_t i = 0; i < a->n_edges; i++)
		a->gaps.estimated += leat_edge_is_estimate(&a->edges[i]);
}
