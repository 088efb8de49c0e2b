/* The report as trace events: tasks are processes, the files that they used threads. Source: "Trace
 * Event Format", Google, 2016; read by ui.perfetto.dev and chrome://tracing. */
#include "report/report.h"

#include "base/json.h"
#include "report/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 2000 };

struct events {
	const struct leat_report *r;
	const struct leat_analysis *a;
	struct leat_json j;
};

static uint64_t since_us(const struct events *e, int64_t ns)
{
	return ns > e->a->begin_ns ? ((uint64_t)ns - (uint64_t)e->a->begin_ns) / 1000 : 0;
}

/* Numbers of processes and threads begin at 1. */
static void begin(struct events *e, const char *phase, const char *name, uint32_t task,
		  uint32_t thread)
{
	leat_json_object(&e->j, NULL, true);
	leat_json_string(&e->j, "ph", phase);
	leat_json_string(&e->j, "name", name);
	leat_json_number(&e->j, "pid", task + 1);
	leat_json_number(&e->j, "tid", thread);
}

static void end(struct events *e)
{
	leat_json_close(&e->j);
}

static void put_name(struct events *e, const char *what, uint32_t task, uint32_t thread,
		     const char *name)
{
	begin(e, "M", what, task, thread);
	leat_json_object(&e->j, "args", true);
	leat_json_string(&e->j, "name", name);
	leat_json_close(&e->j);
	end(e);
}

/* Thread 0 is the task itself. */
static uint32_t thread_of(uint32_t file)
{
	return file + 1;
}

static void put_slice(struct events *e, const char *name, uint32_t task, uint32_t thread,
		      uint64_t at_us, uint64_t length_us)
{
	begin(e, "X", name, task, thread);
	leat_json_number(&e->j, "ts", at_us);
	leat_json_number(&e->j, "dur", length_us ? length_us : 1);
}

static void put_rates(struct events *e, const struct leat_report_series *s, uint32_t task)
{
	uint64_t piece_ns = leat_series_piece_ns(s);
	bool moving = false;

	for (size_t i = 0; i < LEAT_SERIES_PIECES; i++) {
		uint64_t in = s->v[i][LEAT_SERIES_READ], out = s->v[i][LEAT_SERIES_WRITTEN];

		if (in || out || moving) {
			begin(e, "C", "MB/s", task, 0);
			leat_json_number(&e->j, "ts", i * piece_ns / 1000);
			leat_json_object(&e->j, "args", true);
			/* Bytes in a microsecond are MB in a second. */
			leat_json_real(&e->j, "read", 1000 * (double)in / (double)piece_ns);
			leat_json_real(&e->j, "written", 1000 * (double)out / (double)piece_ns);
			leat_json_close(&e->j);
			end(e);
		}
		moving = in || out;
	}
}

static void put_task(struct events *e, uint32_t task)
{
	const struct leat_report_task *t = &e->a->tasks[task];

	put_name(e, "process_name", task, 0, t->name);
	put_name(e, "thread_name", task, 0, "task");
	put_slice(e, t->name, task, 0, since_us(e, leat_task_begin_ns(t)),
		  (uint64_t)leat_task_run_ns(t) / 1000);
	leat_json_object(&e->j, "args", true);
	leat_json_number(&e->j, "read", t->ways[LEAT_READ].bytes);
	leat_json_number(&e->j, "written", t->ways[LEAT_WRITTEN].bytes);
	leat_json_number(&e->j, "time_in_calls_us", leat_calls_time_ns(t->calls) / 1000);
	leat_json_close(&e->j);
	end(e);
	put_rates(e, &t->series, task);
}

/* Of each task and file: from the first access to the last. */
static void put_edge(struct events *e, const struct leat_report_edge *p)
{
	char unnamed[LEAT_WORD];
	const char *file = leat_words_file(e->r, p->file, unnamed);

	put_name(e, "thread_name", p->task, thread_of(p->file), file);
	if (!p->first_ns)
		return;
	put_slice(e, file, p->task, thread_of(p->file), since_us(e, p->first_ns),
		  (uint64_t)(p->last_ns - p->first_ns) / 1000);
	leat_json_object(&e->j, "args", true);
	for (int way = 0; way < LEAT_WAYS; way++)
		leat_json_number(&e->j, way == LEAT_READ ? "read" : "written",
				 leat_edge_bytes(p, (enum leat_way)way));
	leat_json_close(&e->j);
	end(e);
}

static void put_spans(struct events *e, const struct leat_spans *spans, uint32_t file,
		      const bool *shown)
{
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct leat_span *s = &spans->v[i];

		if (!shown[s->task])
			continue;
		put_slice(e, s->write ? "write" : "read", s->task, thread_of(file),
			  s->begin_ns / 1000, (s->end_ns - s->begin_ns) / 1000);
		leat_json_object(&e->j, "args", true);
		leat_json_number(&e->j, "from", s->from);
		leat_json_number(&e->j, "to", s->to);
		leat_json_number(&e->j, "bytes", s->bytes);
		leat_json_number(&e->j, "calls", s->calls);
		leat_json_close(&e->j);
		end(e);
	}
}

static void put_gap(void *ctx, const char *text)
{
	struct events *e = ctx;

	leat_json_string(&e->j, NULL, text);
}

static int put_all(struct events *e)
{
	const struct leat_report *r = e->r;
	bool *shown = calloc(e->a->n_tasks + 1, sizeof(*shown));

	if (!shown)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n_tasks; i++) {
		shown[r->tasks[i]] = true;
		put_task(e, r->tasks[i]);
	}
	for (uint32_t i = 0; i < r->n_edges && i < MOST_FILES; i++)
		put_edge(e, &e->a->edges[r->edges[i]]);
	for (uint32_t i = 0; i < r->n_files && i < MOST_FILES; i++)
		put_spans(e, &e->a->files[r->files[i]].spans, r->files[i], shown);
	free(shown);
	return 0;
}

int leat_report_write_perfetto(const struct leat_report *r, FILE *out)
{
	struct events e = {.r = r, .a = r->found.analysis, .j = {.out = out}};
	int error;

	leat_json_object(&e.j, NULL, false);
	leat_json_string(&e.j, "displayTimeUnit", "ms");
	leat_json_object(&e.j, "otherData", true);
	leat_json_string(&e.j, "leat", LEAT_VERSION);
	leat_json_list(&e.j, "incomplete", true);
	leat_report_list_gaps(r, put_gap, &e);
	leat_json_close(&e.j);
	leat_json_close(&e.j);
	leat_json_list(&e.j, "traceEvents", false);
	error = put_all(&e);
	leat_json_close(&e.j);
	leat_json_close(&e.j);
	errno = 0;
	if (!error && (fflush(out) || ferror(out)))
		error = errno ? -errno : -EIO;
	return error;
}
