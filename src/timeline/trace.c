/* The timeline as trace events: processes are tasks, threads are instances. Source: "Trace Event
 * Format", Google, 2016; read by ui.perfetto.dev and chrome://tracing. */
#include "timeline/result.h"

#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum activity { COMPUTE, COPY, WAIT, REST, ACTIVITIES };

/* One slice in the making: neighbours that are the same are one. */
struct slice {
	enum activity activity;
	uint64_t file;
	uint64_t begin_us, length_us;
};

struct trace {
	const struct leat_result *r;
	const struct leat_workflow *wf;
	struct leat_json *j;
	unsigned *tasks; /* owned; number of each step's task, from 1 */
	size_t step;     /* whose events are written */
	struct slice slice;
};

static int find_tasks(struct trace *t)
{
	unsigned n = 0;

	t->tasks = calloc(t->wf->n_steps + 1, sizeof(*t->tasks));
	if (!t->tasks)
		return -ENOMEM;
	for (size_t i = 0; i < t->wf->n_steps; i++) {
		const struct leat_step *step = &t->wf->steps[i];

		/* Instances of a task follow one another. */
		if (!i || strcmp(step->task, t->wf->steps[i - 1].task) != 0)
			n++;
		t->tasks[i] = n;
	}
	return 0;
}

/* ---- one event ---- */

static void begin(const struct trace *t, const char *phase, const char *name, const char *category,
		  size_t step)
{
	leat_json_object(t->j, NULL, true);
	leat_json_string(t->j, "ph", phase);
	leat_json_string(t->j, "name", name);
	if (category)
		leat_json_string(t->j, "cat", category);
	leat_json_number(t->j, "pid", t->tasks[step]);
	leat_json_number(t->j, "tid", t->wf->steps[step].instance + 1u);
}

static void end(const struct trace *t)
{
	leat_json_close(t->j);
}

static void put_names(const struct trace *t, size_t i)
{
	const struct leat_step *step = &t->wf->steps[i];

	if (!i || t->tasks[i] != t->tasks[i - 1]) {
		begin(t, "M", "process_name", NULL, i);
		leat_json_object(t->j, "args", true);
		leat_json_string(t->j, "name", step->task);
		leat_json_close(t->j);
		end(t);
		begin(t, "M", "process_sort_index", NULL, i);
		leat_json_object(t->j, "args", true);
		leat_json_number(t->j, "sort_index", t->tasks[i]);
		leat_json_close(t->j);
		end(t);
	}
	begin(t, "M", "thread_name", NULL, i);
	leat_json_object(t->j, "args", true);
	leat_json_string(t->j, "name", step->name);
	leat_json_close(t->j);
	end(t);
}

/* ---- what a step did ---- */

static const char *file_of(const struct trace *t, uint64_t file)
{
	return file ? t->r->timeline.files[file - 1] : "";
}

static void flush(struct trace *t)
{
	static const char *const names[] = {[COMPUTE] = "compute",
					    [COPY] = "transfer",
					    [WAIT] = "wait",
					    [REST] = "between launches"};
	const struct slice *s = &t->slice;

	if (!s->length_us)
		return;
	begin(t, "X", names[s->activity], "activity", t->step);
	leat_json_number(t->j, "ts", s->begin_us);
	leat_json_number(t->j, "dur", s->length_us);
	if (s->activity == WAIT && s->file) {
		leat_json_object(t->j, "args", true);
		leat_json_string(t->j, "file", file_of(t, s->file));
		leat_json_close(t->j);
	}
	end(t);
	t->slice.length_us = 0;
}

static void add(struct trace *t, enum activity activity, uint64_t begin_us, uint64_t length_us,
		uint64_t file)
{
	struct slice *s = &t->slice;

	if (!length_us)
		return;
	if (s->length_us && s->activity == activity && s->file == file &&
	    s->begin_us + s->length_us == begin_us) {
		s->length_us += length_us;
		return;
	}
	flush(t);
	*s = (struct slice){activity, file, begin_us, length_us};
}

/* Where in the piece each activity was is not known: one after the other. */
static void put_piece(struct trace *t, const struct leat_timeline_piece *p)
{
	uint64_t at_us = leat_timeline_since_start(t->r, p->begin_us);
	uint64_t parts[ACTIVITIES] = {
		[COPY] = p->copy_us, [WAIT] = p->wait_us, [REST] = p->rest_us};
	uint64_t rest = p->copy_us + p->wait_us + p->rest_us;

	/* Rounded down each. */
	parts[COMPUTE] = p->length_us > rest ? p->length_us - rest : 0;
	for (int i = 0; i < ACTIVITIES; i++) {
		add(t, (enum activity)i, at_us, parts[i], i == WAIT ? p->file : 0);
		at_us += parts[i];
	}
}

static void put_rate(const struct trace *t, uint64_t at_us, uint64_t in, uint64_t out,
		     uint64_t length_us)
{
	char name[300];

	snprintf(name, sizeof(name), "%.250s MB/s", t->wf->steps[t->step].name);
	begin(t, "C", name, NULL, t->step);
	leat_json_number(t->j, "ts", at_us);
	leat_json_object(t->j, "args", true);
	/* Bytes in a microsecond are MB in a second. */
	leat_json_real(t->j, "in", length_us ? (double)in / (double)length_us : 0);
	leat_json_real(t->j, "out", length_us ? (double)out / (double)length_us : 0);
	leat_json_close(t->j);
	end(t);
}

static void put_rates(const struct trace *t, const struct leat_timeline_line *line)
{
	bool moving = false;

	for (size_t i = 0; i < line->n; i++) {
		const struct leat_timeline_piece *p = &line->v[i];
		bool moves = p->bytes_in || p->bytes_out;

		if (moves || moving)
			put_rate(t, leat_timeline_since_start(t->r, p->begin_us), p->bytes_in,
				 p->bytes_out, p->length_us);
		moving = moves;
	}
	if (moving)
		put_rate(t,
			 leat_timeline_since_start(t->r, line->v[line->n - 1].begin_us +
								 line->v[line->n - 1].length_us),
			 0, 0, 0);
}

static void put_step(struct trace *t, size_t step)
{
	const struct leat_step_result *s = &t->r->steps[step];
	const uint64_t begin_us = (s->start_ns - t->r->start_ns) / 1000;
	const struct leat_timeline_line *line =
		t->r->timeline.lines ? &t->r->timeline.lines[step] : NULL;
	char status[48];

	t->step = step;
	put_names(t, step);
	if (!s->start_ns)
		return;
	begin(t, "X", s->name, "step", step);
	leat_json_number(t->j, "ts", begin_us);
	leat_json_number(t->j, "dur", leat_step_wall_ns(t->r, s) / 1000);
	leat_json_object(t->j, "args", true);
	leat_json_string(t->j, "status", leat_format_status(s, status));
	if (s->cause)
		leat_json_string(t->j, "cause", s->cause);
	leat_json_close(t->j);
	end(t);
	for (size_t i = 0; line && i < line->n; i++)
		put_piece(t, &line->v[i]);
	flush(t);
	if (line)
		put_rates(t, line);
}

/* ---- files ---- */

static void put_instant(const struct trace *t, const struct leat_timeline_milestone *m)
{
	char name[400];

	if (m->version > 1)
		snprintf(name, sizeof(name), "%.300s (version %llu) %s", file_of(t, m->file),
			 (unsigned long long)m->version,
			 m->kind == LEAT_TIMELINE_FAIL ? "failed" : "complete");
	else
		snprintf(name, sizeof(name), "%.300s %s", file_of(t, m->file),
			 m->kind == LEAT_TIMELINE_FAIL ? "failed" : "complete");
	begin(t, "i", name, "file", (size_t)m->step);
	leat_json_string(t->j, "s", "t");
	leat_json_number(t->j, "ts", leat_timeline_since_start(t->r, m->time_us));
	end(t);
}

/* Arrows begin and end inside of slices: a file that is complete at its step's end would lie just
 * behind. */
static uint64_t clamp_to_step(const struct trace *t, long step, uint64_t us)
{
	const struct leat_step_result *s = &t->r->steps[step];
	uint64_t begin_us =
		s->start_ns > t->r->start_ns ? (s->start_ns - t->r->start_ns) / 1000 : 0;
	uint64_t end_us = begin_us + leat_step_wall_ns(t->r, s) / 1000;

	if (us < begin_us)
		return begin_us;
	return us >= end_us && end_us > begin_us ? end_us - 1 : us;
}

static void put_end_of_arrow(const struct trace *t, const char *phase, size_t number, long step,
			     uint64_t us, const struct leat_timeline_milestone *m)
{
	begin(t, phase, file_of(t, m->file), "file", (size_t)step);
	leat_json_number(t->j, "id", number);
	leat_json_number(t->j, "ts", clamp_to_step(t, step, us));
	if (*phase == 'f')
		leat_json_string(t->j, "bp", "e");
	end(t);
}

static void put_arrow(const struct trace *t, size_t number,
		      const struct leat_timeline_milestone *read)
{
	const struct leat_timeline_milestone *made = leat_timeline_source(&t->r->timeline, read);
	uint64_t read_us, made_us;

	if (!made || read->step < 0)
		return;
	read_us = leat_timeline_since_start(t->r, read->time_us);
	made_us = leat_timeline_since_start(t->r, made->time_us);
	/* Who reads while it grows begins before it is complete. */
	put_end_of_arrow(t, "s", number, made->step, made_us < read_us ? made_us : read_us, made);
	put_end_of_arrow(t, "f", number, read->step, read_us, made);
}

static void put_milestones(const struct trace *t)
{
	for (size_t i = 0; i < t->r->timeline.n_milestones; i++) {
		const struct leat_timeline_milestone *m = &t->r->timeline.milestones[i];

		if (m->kind == LEAT_TIMELINE_READ)
			put_arrow(t, i + 1, m);
		else if ((m->kind == LEAT_TIMELINE_COMMIT || m->kind == LEAT_TIMELINE_FAIL) &&
			 m->step >= 0)
			put_instant(t, m);
	}
}

/* ---- storage ---- */

static void put_counter(const struct trace *t, unsigned pid, const char *device, const char *what,
			double at_s)
{
	char name[300];

	snprintf(name, sizeof(name), "%.250s %s", device, what);
	leat_json_object(t->j, NULL, true);
	leat_json_string(t->j, "ph", "C");
	leat_json_string(t->j, "name", name);
	leat_json_number(t->j, "pid", pid);
	leat_json_number(t->j, "tid", 1);
	leat_json_number(t->j, "ts", (unsigned long long)(at_s * 1e6 + 0.5));
	leat_json_object(t->j, "args", true);
}

static void put_sample(const struct trace *t, unsigned pid, const char *device, double at_s,
		       const struct leat_achieved_sample *s)
{
	put_counter(t, pid, device, "MB/s", at_s);
	leat_json_real(t->j, "read", s->read_mbps);
	leat_json_real(t->j, "written", s->written_mbps);
	leat_json_real(t->j, "copied", s->copied_mbps);
	leat_json_real(t->j, "allocated", s->allocated_mbps);
	leat_json_close(t->j);
	end(t);
	put_counter(t, pid, device, "I/O tasks", at_s);
	leat_json_real(t->j, "tasks", s->tasks);
	leat_json_close(t->j);
	end(t);
}

/* What was achieved on a device, as counters of a process of their own. */
static void put_device(const struct trace *t, unsigned pid, unsigned device)
{
	const struct leat_achieved *a = t->r->learned->achieved;
	const char *name = t->r->learned->devices[device].name;
	unsigned n = leat_achieved_n(a);
	struct leat_achieved_sample s;

	leat_json_object(t->j, NULL, true);
	leat_json_string(t->j, "ph", "M");
	leat_json_string(t->j, "name", "process_name");
	leat_json_number(t->j, "pid", pid);
	leat_json_number(t->j, "tid", 1);
	leat_json_object(t->j, "args", true);
	leat_json_string(t->j, "name", name);
	leat_json_close(t->j);
	end(t);
	for (unsigned i = 0; i < n; i++) {
		leat_achieved_sample(a, device, i, &s);
		put_sample(t, pid, name, i * leat_achieved_interval_s(a), &s);
	}
	put_sample(t, pid, name, n * leat_achieved_interval_s(a),
		   &(struct leat_achieved_sample){0});
}

static void put_storage(const struct trace *t)
{
	const struct leat_learned *learned = t->r->learned;
	unsigned pid = t->wf->n_steps ? t->tasks[t->wf->n_steps - 1] : 0;

	for (unsigned i = 0; learned && i < learned->n_devices; i++)
		if (leat_achieved_is_used(learned->achieved, i))
			put_device(t, ++pid, i);
}

int leat_timeline_write_trace(const struct leat_result *r, const struct leat_workflow *wf,
			      FILE *out)
{
	struct leat_json writer = {.out = out};
	struct trace t = {.r = r, .wf = wf, .j = &writer};
	int error = find_tasks(&t);

	if (error)
		return error;
	leat_json_object(t.j, NULL, false);
	leat_json_string(t.j, "displayTimeUnit", "ms");
	leat_json_object(t.j, "otherData", true);
	leat_json_string(t.j, "workflow", wf->name ? wf->name : "");
	leat_json_string(t.j, "leat", LEAT_VERSION);
	leat_json_close(t.j);
	leat_json_list(t.j, "traceEvents", false);
	for (size_t i = 0; i < r->n_steps; i++)
		put_step(&t, i);
	put_milestones(&t);
	put_storage(&t);
	leat_json_close(t.j);
	leat_json_close(t.j);
	free(t.tasks);
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
