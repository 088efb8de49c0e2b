/* What is shown, in which order; what is missing. */
#include "report/report.h"

#include "base/log.h"
#include "report/collect.h"
#include "report/hints.h"
#include "report/words.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the filter ---- */

static bool fits(const char *pattern, const char *text)
{
	return text && (strstr(text, pattern) || !fnmatch(pattern, text, 0));
}

static bool task_fits(const struct leat_report_task *t, const char *pattern)
{
	return !pattern || fits(pattern, t->name) || fits(pattern, t->logical);
}

static bool is_used(const struct leat_report_edge *p)
{
	for (int i = 0; i < LEAT_ANALYSIS_TYPES; i++)
		if (p->calls[i].n)
			return true;
	return false;
}

/* ---- order ---- */

struct ranked {
	uint64_t first, second;
	uint32_t index;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? 1 : -1;
	if (x->second != y->second)
		return x->second < y->second ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The indices in order; frees `v`. NULL: out of memory. */
static uint32_t *sort_indices(struct ranked *v, uint32_t n)
{
	uint32_t *out = v ? calloc(n + 1, sizeof(*out)) : NULL;

	if (out) {
		qsort(v, n, sizeof(*v), by_rank);
		for (uint32_t i = 0; i < n; i++)
			out[i] = v[i].index;
	}
	free(v);
	return out;
}

static uint64_t edge_time_ns(const struct leat_report_edge *p)
{
	return leat_calls_time_ns(p->calls);
}

static int rank_edges(struct leat_report *r, const char *task, const char *file, bool *tasks,
		      bool *files)
{
	const struct leat_analysis *a = r->found.analysis;
	struct ranked *v = calloc(a->n_edges + 1, sizeof(*v));
	uint32_t n = 0;

	for (uint32_t i = 0; v && i < a->n_edges; i++) {
		const struct leat_report_edge *p = &a->edges[i];
		char unnamed[LEAT_WORD];

		if (!is_used(p) || !task_fits(&a->tasks[p->task], task) ||
		    (file && !fits(file, leat_words_file(r, p->file, unnamed))))
			continue;
		tasks[p->task] = true;
		files[p->file] = true;
		v[n++] = (struct ranked){leat_edge_bytes(p, LEAT_READ) +
						 leat_edge_bytes(p, LEAT_WRITTEN),
					 edge_time_ns(p), i};
	}
	r->edges = sort_indices(v, n);
	r->n_edges = n;
	return r->edges ? 0 : -ENOMEM;
}

static int rank_tasks(struct leat_report *r, const bool *chosen)
{
	const struct leat_analysis *a = r->found.analysis;
	struct ranked *v = calloc(a->n_tasks + 1, sizeof(*v));
	uint32_t n = 0;

	for (uint32_t i = 0; v && i < a->n_tasks; i++)
		if (chosen[i])
			v[n++] = (struct ranked){leat_calls_time_ns(a->tasks[i].calls),
						 a->tasks[i].ways[LEAT_READ].bytes +
							 a->tasks[i].ways[LEAT_WRITTEN].bytes,
						 i};
	r->tasks = sort_indices(v, n);
	r->n_tasks = n;
	return r->tasks ? 0 : -ENOMEM;
}

static int rank_files(struct leat_report *r, const bool *chosen)
{
	const struct leat_analysis *a = r->found.analysis;
	struct ranked *v = calloc(a->n_files + 1, sizeof(*v));
	uint32_t n = 0;

	for (uint32_t i = 0; v && i < a->n_files; i++)
		if (chosen[i])
			v[n++] = (struct ranked){a->files[i].bytes[LEAT_READ] +
							 a->files[i].bytes[LEAT_WRITTEN],
						 a->files[i].time_ns, i};
	r->files = sort_indices(v, n);
	r->n_files = n;
	return r->files ? 0 : -ENOMEM;
}

static int rank(struct leat_report *r, const char *task, const char *file)
{
	const struct leat_analysis *a = r->found.analysis;
	bool *tasks = calloc(a->n_tasks + 1, sizeof(*tasks));
	bool *files = calloc(a->n_files + 1, sizeof(*files));
	int error = tasks && files ? rank_edges(r, task, file, tasks, files) : -ENOMEM;

	/* A task of a workflow that has opened nothing is one, too. */
	for (uint32_t i = 0; !error && !file && i < a->n_tasks; i++)
		tasks[i] |= a->tasks[i].last_ns && a->tasks[i].origin == LEAT_REPORT_TASK &&
			    task_fits(&a->tasks[i], task);
	if (!error)
		error = rank_tasks(r, tasks);
	if (!error)
		error = rank_files(r, files);
	free(tasks);
	free(files);
	return error;
}

/* ---- life ---- */

struct leat_report *leat_report_of(struct leat_report_found *found, const char *task,
				   const char *file)
{
	struct leat_report *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return NULL;
	r->found = *found;
	error = rank(r, task, file);
	if (!error)
		error = leat_report_find_hints(r);
	if (!error) {
		*found = (struct leat_report_found){0};
		return r;
	}
	r->found = (struct leat_report_found){0};
	leat_report_free(r);
	errno = -error;
	return NULL;
}

/* Name of some task, NULL: there is none. What stands for many has its name in parentheses. */
static const char *example_of(const struct leat_analysis *a)
{
	for (uint32_t i = 0; i < a->n_tasks; i++)
		if (a->tasks[i].last_ns && a->tasks[i].name[0] != '(')
			return a->tasks[i].name;
	return NULL;
}

/* Is there anything of what was asked for? */
static bool has_any(const struct leat_report *r, const struct leat_report_request *request)
{
	const char *example = example_of(r->found.analysis);

	if ((!request->task && !request->file) || r->n_tasks)
		return true;
	if (request->task && request->file)
		leat_error("no task that matches \"%s\" has done anything to a file that matches "
			   "\"%s\"",
			   request->task, request->file);
	else if (request->file)
		leat_error("no file of the traces matches \"%s\"", request->file);
	else
		leat_error("no task of the traces matches \"%s\"%s%s", request->task,
			   example ? "; one there is: " : "", example ? example : "");
	return false;
}

int leat_report_new(const struct leat_report_request *request, struct leat_report **report)
{
	struct leat_report_found found;
	int error = leat_report_collect(request, &found);

	if (error)
		return error;
	*report = leat_report_of(&found, request->task, request->file);
	if (*report && has_any(*report, request))
		return 0;
	if (*report) {
		leat_report_free(*report);
		return -ENOENT;
	}
	error = -errno;
	leat_error("cannot make the report: %s", strerror(errno));
	leat_report_found_release(&found);
	return error;
}

void leat_report_free(struct leat_report *r)
{
	if (!r)
		return;
	leat_report_found_release(&r->found);
	for (size_t i = 0; i < r->n_hints; i++)
		free(r->hints[i].text);
	free(r->hints);
	free(r->tasks);
	free(r->files);
	free(r->edges);
	free(r);
}

/* ---- what is missing ---- */

struct gaps {
	void (*put)(void *ctx, const char *text);
	void *ctx;
	bool any;
};

static void put_gap(struct gaps *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put_gap(struct gaps *s, const char *format, ...)
{
	char text[700];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	s->any = true;
	if (s->put)
		s->put(s->ctx, text);
}

static const char *describe_loss(enum leat_trace_loss loss)
{
	switch (loss) {
	case LEAT_TRACE_LOST_BUFFER:
		return "the buffer between the traced and the tracer was full";
	case LEAT_TRACE_LOST_MEMORY:
		return "a table of files or processes was full";
	case LEAT_TRACE_LOST_PATH:
		return "a name could not be found out";
	case LEAT_TRACE_LOST_WRITE:
		return "the trace could not be written";
	case LEAT_TRACE_LOST_UNSEEN:
		return "done in a way that the tracer does not see";
	default:
		return leat_trace_loss_name(loss);
	}
}

static void put_source_gaps(struct gaps *s, const struct leat_report_source *source,
			    unsigned number)
{
	char name[80], n[LEAT_WORD];

	if (source->host)
		snprintf(name, sizeof(name), "the trace of %.60s", source->host);
	else
		snprintf(name, sizeof(name), "trace %u", number + 1);
	if (!source->tail.complete && !source->foreign)
		put_gap(s, "%s is truncated: later records are missing", name);
	for (int i = 0; i < LEAT_TRACE_LOSSES; i++)
		if (source->tail.lost[i])
			put_gap(s, "%s lacks %s records: %s", name,
				leat_words_count(source->tail.lost[i], n),
				describe_loss((enum leat_trace_loss)i));
	for (size_t i = 0; i < source->n_unseen; i++)
		put_gap(s, "%s lacks what %s did, which ran %s time%s%s%s", name,
			source->unseen[i].program, leat_words_count(source->unseen[i].times, n),
			source->unseen[i].times == 1 ? "" : "s", source->unseen[i].why ? ": " : "",
			source->unseen[i].why ? source->unseen[i].why : "");
}

static void put_limit_gaps(struct gaps *s, const struct leat_analysis_gaps *g)
{
	char n[LEAT_WORD];

	if (g->folded_tasks)
		put_gap(s, "there are more tasks than the report has space for: some are shown as "
			   "one");
	if (g->folded_files || g->folded_edges)
		put_gap(s,
			"there are more files than the report has space for: %s opens are counted "
			"with "
			"their directory or as (others)",
			leat_words_count(g->folded_files + g->folded_edges, n));
	if (g->forgotten)
		put_gap(s,
			"%s open files were too many to be followed: their calls in and out of "
			"order "
			"are not told apart",
			leat_words_count(g->forgotten, n));
}

static bool put_all_gaps(const struct leat_report *r, struct gaps *s)
{
	for (unsigned i = 0; i < r->found.n_sources; i++)
		put_source_gaps(s, &r->found.sources[i], i);
	if (r->found.broken)
		put_gap(s, "reading ended early: %s", strerror(-r->found.broken));
	if (r->found.malformed)
		put_gap(s, "%" PRIu64 " malformed %s left out, the first: %s", r->found.malformed,
			r->found.malformed == 1 ? "line or block was" : "lines or blocks were",
			r->found.first_problem ? r->found.first_problem : "");
	if (r->found.partial_map)
		put_gap(s, "not all of the workflow manager's logs could be used: tasks may be "
			   "missing");
	put_limit_gaps(s, &r->found.analysis->gaps);
	return s->any;
}

void leat_report_list_gaps(const struct leat_report *r, void (*put)(void *ctx, const char *text),
			   void *ctx)
{
	struct gaps s = {put, ctx, false};

	put_all_gaps(r, &s);
}

bool leat_report_is_partial(const struct leat_report *r)
{
	struct gaps s = {0};

	return put_all_gaps(r, &s);
}
