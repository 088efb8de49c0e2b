/* The timeline as JSON: what the page is drawn from. */
#include "timeline/result.h"

#include "base/clock.h"
#include "base/json.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Local time, with its zone. The run knows the other clock only. */
static void put_start(struct leat_json *j, const struct leat_result *r)
{
	time_t start = time(NULL) - (time_t)((leat_clock_ns() - r->start_ns) / 1000000000u);
	struct tm local;
	char text[40] = "";

	if (localtime_r(&start, &local))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local);
	leat_json_string(j, "started", text);
}

static void put_pieces(struct leat_json *j, const struct leat_result *r, size_t step)
{
	const struct leat_timeline_line *line =
		r->timeline.lines ? &r->timeline.lines[step] : &(struct leat_timeline_line){0};

	leat_json_list(j, "pieces", true);
	for (size_t i = 0; i < line->n; i++) {
		const struct leat_timeline_piece *p = &line->v[i];
		const uint64_t numbers[] = {leat_timeline_since_start(r, p->begin_us),
					    p->length_us,
					    p->wait_us,
					    p->copy_us,
					    p->rest_us,
					    p->bytes_in,
					    p->bytes_out,
					    p->file};

		leat_json_list(j, NULL, true);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
			leat_json_number(j, NULL, numbers[k]);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_totals(struct leat_json *j, const struct leat_result *r, size_t step)
{
	const struct leat_step_result *s = &r->steps[step];
	struct leat_timeline_totals t;

	leat_timeline_total(r, step, &t);
	leat_json_object(j, "totals", true);
	leat_json_number(j, "wall_us", t.wall_us);
	if (r->streamed) {
		leat_json_number(j, "compute_us", t.compute_us);
		leat_json_number(j, "copy_us", t.copy_us);
		leat_json_number(j, "wait_us", t.wait_us);
		leat_json_number(j, "rest_us", t.rest_us);
		leat_json_number(j, "bytes_in", s->counters.bytes_in);
		leat_json_number(j, "bytes_out", s->counters.bytes_out);
	}
	leat_json_close(j);
}

static uint64_t after_start(const struct leat_result *r, uint64_t at_ns)
{
	return at_ns > r->start_ns ? (at_ns - r->start_ns) / 1000 : 0;
}

static void put_step(struct leat_json *j, const struct leat_result *r,
		     const struct leat_workflow *wf, size_t step)
{
	const struct leat_step_result *s = &r->steps[step];
	char status[48];

	leat_json_object(j, NULL, true);
	leat_json_string(j, "name", s->name);
	leat_json_string(j, "task", wf->steps[step].task);
	leat_json_string(j, "state", leat_step_word(s));
	leat_json_string(j, "status", leat_format_status(s, status));
	leat_json_string(j, "cause", s->cause ? s->cause : "");
	if (s->start_ns) {
		leat_json_number(j, "begin_us", after_start(r, s->start_ns));
		leat_json_number(j, "end_us", after_start(r, s->end_ns ? s->end_ns : r->end_ns));
	}
	put_totals(j, r, step);
	put_pieces(j, r, step);
	leat_json_close(j);
}

static void put_milestone(struct leat_json *j, const struct leat_result *r,
			  const struct leat_timeline_milestone *m)
{
	static const char *const kinds[] = {[LEAT_TIMELINE_LAUNCH] = "launch",
					    [LEAT_TIMELINE_END] = "end",
					    [LEAT_TIMELINE_COMMIT] = "commit",
					    [LEAT_TIMELINE_FAIL] = "fail",
					    [LEAT_TIMELINE_READ] = "read"};
	const struct leat_timeline_milestone *source =
		m->kind == LEAT_TIMELINE_READ ? leat_timeline_source(&r->timeline, m) : NULL;

	leat_json_object(j, NULL, true);
	leat_json_string(j, "kind", kinds[m->kind]);
	leat_json_number(j, "at_us", leat_timeline_since_start(r, m->time_us));
	if (m->step >= 0)
		leat_json_number(j, "step", (unsigned long long)m->step);
	if (m->file) {
		leat_json_number(j, "file", m->file);
		leat_json_number(j, "version", m->version);
	}
	if (source) {
		leat_json_number(j, "from_step", (unsigned long long)source->step);
		leat_json_number(j, "from_us", leat_timeline_since_start(r, source->time_us));
	}
	leat_json_close(j);
}

static void put_lists(struct leat_json *j, const struct leat_result *r,
		      const struct leat_workflow *wf)
{
	leat_json_list(j, "steps", false);
	for (size_t i = 0; i < r->n_steps; i++)
		put_step(j, r, wf, i);
	leat_json_close(j);
	leat_json_list(j, "files", true);
	for (size_t i = 0; i < r->timeline.n_files; i++)
		leat_json_string(j, NULL, r->timeline.files[i]);
	leat_json_close(j);
	leat_json_list(j, "marks", false);
	for (size_t i = 0; i < r->timeline.n_milestones; i++)
		put_milestone(j, r, &r->timeline.milestones[i]);
	leat_json_close(j);
}

int leat_timeline_write_data(const struct leat_result *r, const struct leat_workflow *wf,
			     const char *dir, FILE *out)
{
	struct leat_json writer = {.out = out}, *j = &writer;

	leat_json_object(j, NULL, false);
	leat_json_string(j, "workflow", wf->name ? wf->name : "");
	leat_json_string(j, "file", wf->path ? wf->path : "");
	leat_json_string(j, "dir", dir);
	leat_json_string(j, "leat", LEAT_VERSION);
	put_start(j, r);
	leat_json_bool(j, "streamed", r->streamed);
	leat_json_bool(j, "detailed", r->timeline.lines != NULL);
	leat_json_string(j, "why", r->why);
	leat_json_number(j, "length_us", after_start(r, r->end_ns));
	leat_json_number(j, "interval_ms", r->timeline.interval_ms);
	leat_json_number(j, "marks_left_out", r->timeline.marks_left_out);
	put_lists(j, r, wf);
	if (r->learned)
		leat_learned_write(r->learned, j);
	leat_json_close(j);
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
