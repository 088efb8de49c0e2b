#include "report/hints.h"

#include "base/str.h"
#include "report/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MB UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)
#define NONE UINT32_MAX

enum {
	MANY = 1000, /* calls of which a hint speaks */
};

struct hints {
	struct leat_report *r;
	const struct leat_analysis *a;
	size_t capacity;
	/* Of each file. */
	struct users {
		uint32_t writers, readers; /* how many tasks */
		uint32_t writer, reader;   /* an edge of each; the reader another task */
		bool own;                  /* its writer reads it */
	} * users;                         /* owned */
};

/* ---- making one ---- */

static int add(struct hints *h, const char *kind, uint64_t cost_ns, uint32_t task, uint32_t file,
	       uint32_t reader, char *text)
{
	struct leat_hint *v;

	if (!text)
		return -ENOMEM;
	if (h->r->n_hints == h->capacity) {
		size_t capacity = h->capacity ? 2 * h->capacity : 16;

		v = reallocarray(h->r->hints, capacity, sizeof(*v));
		if (!v) {
			free(text);
			return -ENOMEM;
		}
		h->r->hints = v;
		h->capacity = capacity;
	}
	h->r->hints[h->r->n_hints++] = (struct leat_hint){kind, task, file, reader, cost_ns, text};
	return 0;
}

static const char *task_name(const struct hints *h, uint32_t task)
{
	return h->a->tasks[task].name;
}

static const struct leat_transfer *transfer(const struct leat_report_edge *p, enum leat_way way)
{
	return p->ways[way] ? &p->ways[way]->sum : NULL;
}

/* The metrics of a garbled trace may give any share. */
static uint64_t part(uint64_t whole, double share)
{
	double ns = (double)whole * share;

	return !(ns > 0) ? 0 : ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

/* ---- a task and a file ---- */

static int hint_again(struct hints *h, const struct leat_report_edge *p, const char *file)
{
	const struct leat_transfer *t = transfer(p, LEAT_READ);
	uint64_t unique = leat_edge_unique(p, LEAT_READ);
	char bytes[LEAT_WORD], once[LEAT_WORD];
	double times;

	if (!t || t->bytes < MB / 4 || !unique || t->bytes < 2 * unique)
		return 0;
	times = (double)t->bytes / (double)unique;
	return add(h, "read-again", part(t->time_ns, 1 - 1 / times), p->task, p->file, NONE,
		   leat_strf("%s reads %s %.*f times over: %s, of which %s are different",
			     task_name(h, p->task), file, times < 9.95 ? 1 : 0, times,
			     leat_format_bytes(t->bytes, bytes), leat_format_bytes(unique, once)));
}

static int hint_rewritten(struct hints *h, const struct leat_report_edge *p, const char *file)
{
	const struct leat_transfer *t = transfer(p, LEAT_WRITTEN);
	uint64_t unique = leat_edge_unique(p, LEAT_WRITTEN);
	char bytes[LEAT_WORD], once[LEAT_WORD];

	if (!t || t->bytes < MB || !unique || t->bytes < 2 * unique || h->a->files[p->file].folded)
		return 0;
	return add(h, "rewritten", part(t->time_ns, 1 - (double)unique / (double)t->bytes), p->task,
		   p->file, NONE,
		   leat_strf("%s writes %s over and over: %s into %s of it", task_name(h, p->task),
			     file, leat_format_bytes(t->bytes, bytes),
			     leat_format_bytes(unique, once)));
}

static int hint_small(struct hints *h, const struct leat_report_edge *p, const char *file,
		      enum leat_way way)
{
	static const char *const does[LEAT_WAYS] = {"reads", "writes"};
	const struct leat_transfer *t = transfer(p, way);
	char calls[LEAT_WORD], mean[LEAT_WORD], time[LEAT_WORD];
	uint64_t done = t ? t->calls - t->failed : 0;

	/* A buffer does not help who jumps about. */
	if (done < MANY || t->bytes / done >= 4 * KIB || t->sequential * 2 < done)
		return 0;
	return add(h, "small-calls", t->time_ns, p->task, p->file, NONE,
		   leat_strf("%s %s %s in small pieces: %s calls of %s on average, %s in them; "
			     "a larger buffer helps",
			     task_name(h, p->task), does[way], file,
			     leat_words_count(t->calls, calls),
			     leat_format_bytes(t->bytes / done, mean),
			     leat_words_time(t->time_ns, time)));
}

static int hint_scattered(struct hints *h, const struct leat_report_edge *p, const char *file,
			  enum leat_way way)
{
	static const char *const does[LEAT_WAYS] = {"reads", "writes"};
	const struct leat_transfer *t = transfer(p, way);
	uint64_t jumps = t ? t->up + t->down : 0;
	char n[LEAT_WORD], share[LEAT_WORD], mean[LEAT_WORD];

	if (jumps < MANY || 2 * jumps < t->calls || t->bytes / t->calls >= 256 * KIB)
		return 0;
	return add(h, "scattered", t->time_ns, p->task, p->file, NONE,
		   leat_strf("%s %s %s out of order: %s of %s calls begin elsewhere than where "
			     "the last one ended, for %s each",
			     task_name(h, p->task), does[way], file,
			     leat_words_share((double)jumps / (double)t->calls, share),
			     leat_words_count(t->calls, n),
			     leat_format_bytes(t->bytes / t->calls, mean)));
}

static int hint_read_back(struct hints *h, const struct leat_report_edge *p, const char *file)
{
	const struct leat_transfer *t = transfer(p, LEAT_READ);
	char bytes[LEAT_WORD];

	if (!t || p->read_back < MB / 4 || 2 * p->read_back < leat_edge_bytes(p, LEAT_WRITTEN))
		return 0;
	return add(h, "read-back", part(t->time_ns, (double)p->read_back / (double)t->bytes),
		   p->task, p->file, NONE,
		   leat_strf("%s reads %s of %s back that it has written itself",
			     task_name(h, p->task), leat_format_bytes(p->read_back, bytes), file));
}

static int hint_slow(struct hints *h, const struct leat_report_edge *p, const char *file,
		     enum leat_way way)
{
	static const char *const what[LEAT_WAYS] = {"read", "write"};
	const struct leat_transfer *t = transfer(p, way);
	char longest[LEAT_WORD], all[LEAT_WORD];

	if (!t || t->longest_ns < SECOND_NS)
		return 0;
	return add(h, "slow-call", t->longest_ns, p->task, p->file, NONE,
		   leat_strf("one %s of %s by %s took %s, of %s in all", what[way], file,
			     task_name(h, p->task), leat_words_time(t->longest_ns, longest),
			     leat_words_time(t->time_ns, all)));
}

static int hint_edge(struct hints *h, uint32_t edge)
{
	const struct leat_report_edge *p = &h->a->edges[edge];
	char unnamed[LEAT_WORD];
	const char *file = leat_words_file(h->r, p->file, unnamed);
	int error;

	if (h->a->files[p->file].folded)
		return 0;
	error = hint_again(h, p, file);
	if (!error)
		error = hint_rewritten(h, p, file);
	if (!error)
		error = hint_read_back(h, p, file);
	for (int way = 0; way < LEAT_WAYS && !error; way++) {
		error = hint_small(h, p, file, (enum leat_way)way);
		if (!error)
			error = hint_scattered(h, p, file, (enum leat_way)way);
		if (!error)
			error = hint_slow(h, p, file, (enum leat_way)way);
	}
	return error;
}

/* ---- a file and its tasks ---- */

static bool reads(const struct leat_report_edge *p)
{
	return leat_edge_bytes(p, LEAT_READ) || p->mapped[LEAT_READ];
}

static int find_users(struct hints *h)
{
	h->users = calloc(h->a->n_files + 1, sizeof(*h->users));
	if (!h->users)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->a->n_files; i++)
		h->users[i].writer = h->users[i].reader = NONE;
	for (uint32_t i = 0; i < h->a->n_edges; i++) {
		const struct leat_report_edge *p = &h->a->edges[i];
		struct users *u = &h->users[p->file];

		if (leat_edge_bytes(p, LEAT_WRITTEN) || p->mapped[LEAT_WRITTEN]) {
			u->writers++;
			u->writer = i;
			u->own |= reads(p);
		} else if (reads(p)) {
			const struct leat_report_edge *first =
				u->reader == NONE ? NULL : &h->a->edges[u->reader];

			u->readers++;
			if (!first || p->first_ns < first->first_ns)
				u->reader = i;
		}
	}
	return 0;
}

static int hint_unread(struct hints *h, uint32_t file)
{
	const struct leat_report_file *f = &h->a->files[file];
	const struct users *u = &h->users[file];
	const struct leat_transfer *t;
	char unnamed[LEAT_WORD], bytes[LEAT_WORD];
	const struct leat_report_edge *p;

	if (f->folded || f->replaced || u->readers || u->own || u->writer == NONE ||
	    f->bytes[LEAT_WRITTEN] < MB)
		return 0;
	p = &h->a->edges[u->writer];
	t = transfer(p, LEAT_WRITTEN);
	return add(h, f->removed ? "wasted" : "never-read", t ? t->time_ns : 0, p->task, file, NONE,
		   leat_strf("%s, %s written by %s, is %s", leat_words_file(h->r, file, unnamed),
			     leat_format_bytes(f->bytes[LEAT_WRITTEN], bytes),
			     task_name(h, p->task),
			     f->removed ? "removed again without having been read"
					: "not read by any task of the trace: a result, or not "
					  "needed"));
}

static bool in_order(const struct leat_transfer *t)
{
	return t && t->calls > t->failed && (t->up + t->down) * 20 <= t->calls - t->failed;
}

/* Written once from its beginning to its end, and read in order by another task behind that. */
static int hint_stream(struct hints *h, uint32_t file)
{
	const struct users *u = &h->users[file];
	const struct leat_report_edge *w, *r;
	char unnamed[LEAT_WORD], writing[LEAT_WORD], reading[LEAT_WORD];
	int64_t write_ns, read_ns;

	if (h->a->files[file].folded || u->writers != 1 || u->own || u->reader == NONE)
		return 0;
	w = &h->a->edges[u->writer];
	r = &h->a->edges[u->reader];
	if (!in_order(transfer(w, LEAT_WRITTEN)) || !in_order(transfer(r, LEAT_READ)) ||
	    leat_edge_unique(w, LEAT_WRITTEN) != leat_edge_bytes(w, LEAT_WRITTEN) ||
	    leat_edge_bytes(w, LEAT_WRITTEN) < MB ||
	    2 * leat_edge_unique(r, LEAT_READ) < leat_edge_bytes(w, LEAT_WRITTEN) ||
	    r->way_ns[LEAT_READ][0] < w->way_ns[LEAT_WRITTEN][1])
		return 0;
	write_ns = w->way_ns[LEAT_WRITTEN][1] - w->way_ns[LEAT_WRITTEN][0];
	read_ns = r->way_ns[LEAT_READ][1] - r->way_ns[LEAT_READ][0];
	return add(
		h, "streamable", (uint64_t)(write_ns < read_ns ? write_ns : read_ns), w->task, file,
		r->task,
		leat_strf("%s is written once and in order by %s (for %s), then read in order by "
			  "%s (for %s): a candidate for streaming, with mode: no_update",
			  leat_words_file(h->r, file, unnamed), task_name(h, w->task),
			  leat_words_time((uint64_t)write_ns, writing), task_name(h, r->task),
			  leat_words_time((uint64_t)read_ns, reading)));
}

/* ---- a task ---- */

static const struct leat_calls *calls(const struct leat_report_task *t, enum leat_trace_type type)
{
	return &t->calls[leat_analysis_type_index(type)];
}

static uint64_t names_ns(const struct leat_report_task *t)
{
	return leat_calls_time_ns(t->calls) - calls(t, LEAT_TRACE_READ)->time_ns -
	       calls(t, LEAT_TRACE_WRITE)->time_ns;
}

static int hint_metadata(struct hints *h, uint32_t task)
{
	const struct leat_report_task *t = &h->a->tasks[task];
	uint64_t opens = calls(t, LEAT_TRACE_OPEN)->n + calls(t, LEAT_TRACE_CREATE)->n -
			 calls(t, LEAT_TRACE_OPEN)->failed - calls(t, LEAT_TRACE_CREATE)->failed;
	uint64_t bytes = t->ways[LEAT_READ].bytes + t->ways[LEAT_WRITTEN].bytes;
	char n[LEAT_WORD], mean[LEAT_WORD], time[LEAT_WORD];

	if (opens < MANY || bytes / opens >= 64 * KIB)
		return 0;
	return add(h, "metadata", names_ns(t), task, NONE, NONE,
		   leat_strf("%s opens files %s times, for %s each: %s go into opening, closing "
			     "and removing; fewer, larger files help",
			     t->name, leat_words_count(opens, n),
			     leat_format_bytes(bytes / opens, mean),
			     leat_words_time(names_ns(t), time)));
}

static int hint_missing(struct hints *h, uint32_t task)
{
	const struct leat_report_task *t = &h->a->tasks[task];
	const struct leat_calls *opens = calls(t, LEAT_TRACE_OPEN);
	char n[LEAT_WORD], all[LEAT_WORD];

	if (opens->failed < MANY || 2 * opens->failed < opens->n)
		return 0;
	return add(h, "missing-files",
		   part(opens->time_ns, (double)opens->failed / (double)opens->n), task, NONE, NONE,
		   leat_strf("%s of %s opens by %s fail: it looks for files that are not there; "
			     "shorter search paths help",
			     leat_words_count(opens->failed, n), leat_words_count(opens->n, all),
			     t->name));
}

static int hint_waited(struct hints *h, uint32_t task)
{
	const struct leat_report_task *t = &h->a->tasks[task];
	uint64_t run_ns = (uint64_t)leat_task_run_ns(t);
	char waited[LEAT_WORD], run[LEAT_WORD];

	if (t->waited_ns < SECOND_NS || 4 * t->waited_ns < run_ns)
		return 0;
	return add(h, "waited", t->waited_ns, task, NONE, NONE,
		   leat_strf("%s waited %s of %s for what others had still to write", t->name,
			     leat_words_time(t->waited_ns, waited), leat_words_time(run_ns, run)));
}

/* ---- all ---- */

static int by_cost(const void *a, const void *b)
{
	const struct leat_hint *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? 1 : -1;
	return strcmp(x->text, y->text);
}

static int find_all(struct hints *h)
{
	int error = 0;

	for (uint32_t i = 0; i < h->r->n_edges && !error; i++)
		error = hint_edge(h, h->r->edges[i]);
	for (uint32_t i = 0; i < h->r->n_files && !error; i++) {
		error = hint_unread(h, h->r->files[i]);
		if (!error)
			error = hint_stream(h, h->r->files[i]);
	}
	for (uint32_t i = 0; i < h->r->n_tasks && !error; i++) {
		error = hint_metadata(h, h->r->tasks[i]);
		if (!error)
			error = hint_missing(h, h->r->tasks[i]);
		if (!error)
			error = hint_waited(h, h->r->tasks[i]);
	}
	return error;
}

int leat_report_find_hints(struct leat_report *r)
{
	struct hints h = {.r = r, .a = r->found.analysis};
	int error = find_users(&h);

	if (!error)
		error = find_all(&h);
	free(h.users);
	if (r->n_hints)
		qsort(r->hints, r->n_hints, sizeof(*r->hints), by_cost);
	return error;
}
