/* A snapshot as lines of text. */
#include "base/format.h"
#include "base/str.h"
#include "timeline/result.h"
#include "control/snapshot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_NAME = 4, MAX_NAME = 32 };

/* Names come from files: what a terminal would obey is shown as a question mark. C1 controls are
 * two bytes in UTF-8. */
static void replace_controls(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	}
}

static int add(struct leat_snapshot_lines *l, enum leat_snapshot_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add(struct leat_snapshot_lines *l, enum leat_snapshot_kind kind, const char *format, ...)
{
	struct leat_snapshot_line line = {.kind = kind};
	va_list ap;

	if (l->n == l->space) {
		size_t space = l->space ? 2 * l->space : 64;
		struct leat_snapshot_line *grown = reallocarray(l->v, space, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->v = grown;
		l->space = space;
	}
	va_start(ap, format);
	line.text = leat_vstrf(format, ap);
	va_end(ap);
	if (!line.text)
		return -ENOMEM;
	replace_controls(line.text);
	l->v[l->n++] = line;
	return 0;
}

static int name_width(const struct leat_snapshot *s)
{
	size_t width = MIN_NAME;

	for (size_t i = 0; i < s->n_steps; i++)
		if (strlen(s->steps[i].name) > width)
			width = strlen(s->steps[i].name);
	return width > MAX_NAME ? MAX_NAME : (int)width;
}

static size_t count(const struct leat_snapshot *s, const char *state, bool waits)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_steps; i++)
		n += !strcmp(s->steps[i].state, state) && s->steps[i].waits == waits;
	return n;
}

static int add_head(const struct leat_snapshot *s, struct leat_snapshot_lines *l)
{
	char time[24], used[24], budget[24], spilled[24];
	uint64_t wall_ns = s->now_ns > s->start_ns ? s->now_ns - s->start_ns : 0;
	int error = add(l, LEAT_LINE_TITLE, "%s in %s, %s", s->workflow, s->dir,
			leat_format_seconds(wall_ns, time));

	if (!error)
		error = add(l, LEAT_LINE_PLAIN,
			    "%zu steps: %zu computing, %zu waiting, %zu done, %zu failed, %zu not "
			    "started",
			    s->n_steps, count(s, "running", false), count(s, "running", true),
			    count(s, "done", false), count(s, "failed", false),
			    count(s, "waiting", false));
	if (!error)
		error = add(l, LEAT_LINE_PLAIN, "memory for files: %s of %s, spilled to disk %s",
			    leat_format_bytes(s->used_bytes, used),
			    leat_format_bytes(s->budget_bytes, budget),
			    leat_format_bytes(s->spilled_bytes, spilled));
	return error ? error : add(l, LEAT_LINE_PLAIN, "%s", "");
}

static enum leat_snapshot_kind kind_of(const struct leat_snapshot_step *s)
{
	if (!strcmp(s->state, "failed"))
		return LEAT_LINE_FAILED;
	if (!strcmp(s->state, "done"))
		return LEAT_LINE_OVER;
	return s->waits ? LEAT_LINE_WAITS : LEAT_LINE_PLAIN;
}

static int add_step(const struct leat_snapshot_step *s, int width, struct leat_snapshot_lines *l)
{
	const char *state = !strcmp(s->state, "waiting") ? "not started"
			    : s->waits                   ? "waiting"
							 : s->state;
	char wall[24], wait[24], in[24], out[24], in_rate[24], out_rate[24], cpu[16] = "";
	bool runs = !strcmp(s->state, "running");

	if (!strcmp(s->state, "waiting"))
		return add(l, kind_of(s), "%-*.*s  %s", width, width, s->name, state);
	if (runs)
		snprintf(cpu, sizeof(cpu), "%.0f %%", 100 * s->cpus);
	leat_format_rate(s->in_rate, in_rate);
	leat_format_rate(s->out_rate, out_rate);
	return add(l, kind_of(s), "%-*.*s  %-11s  %9s  %9s  %6s  %10s  %10s  %8s  %8s  %s", width,
		   width, s->name, state, leat_format_seconds(s->wall_ns, wall),
		   leat_format_seconds(s->wait_ns, wait), cpu, runs ? in_rate : "",
		   runs ? out_rate : "", leat_format_bytes(s->bytes_in, in),
		   leat_format_bytes(s->bytes_out, out), s->doing);
}

static int add_steps(const struct leat_snapshot *s, struct leat_snapshot_lines *l)
{
	int width = name_width(s);
	int error = add(l, LEAT_LINE_HEADING, "%-*s  %-11s  %9s  %9s  %6s  %10s  %10s  %8s  %8s",
			width, "step", "state", "wall", "waiting", "CPU", "in", "out", "bytes in",
			"bytes out");

	l->n_head = l->n;
	for (size_t i = 0; i < s->n_steps && !error; i++)
		error = add_step(&s->steps[i], width, l);
	return error;
}

static int add_waits(const struct leat_snapshot *s, struct leat_snapshot_lines *l)
{
	int error = 0;

	if (!s->n_waits)
		return 0;
	error = add(l, LEAT_LINE_PLAIN, "%s", "");
	if (!error)
		error = add(l, LEAT_LINE_HEADING, "%s", "who waits for whom");
	for (size_t i = 0; i < s->n_waits && !error; i++) {
		const struct leat_snapshot_wait *w = &s->waits[i];

		error = add(l, LEAT_LINE_WAITS, "%s <- %s (%s)", w->step,
			    *w->needs ? w->needs : "nobody who runs", w->file);
	}
	return error;
}

static int add_file(const struct leat_snapshot_file *f, struct leat_snapshot_lines *l)
{
	static const struct {
		const char *state, *word;
	} words[] = {{"absent", "not there"},
		     {"produced", "being written"},
		     {"committed", "complete"},
		     {"failed", "failed"},
		     {"gone", "removed"}};
	static const struct {
		const char *place, *word;
	} places[] = {{"store", "memory"}, {"spill", "spilled"}, {"disk", "disk"}, {"none", ""}};
	const char *word = f->state, *place = f->place;
	char bytes[24] = "";

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].state, f->state))
			word = words[i].word;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strcmp(places[i].place, f->place))
			place = places[i].word;
	if (*place)
		leat_format_bytes(f->bytes, bytes);
	return add(l,
		   !strcmp(f->state, "failed")      ? LEAT_LINE_FAILED
		   : !strcmp(f->state, "committed") ? LEAT_LINE_OVER
						    : LEAT_LINE_PLAIN,
		   "%9s  %-13s  %-7s  %s", bytes, word, place, f->name);
}

static int add_files(const struct leat_snapshot *s, struct leat_snapshot_lines *l)
{
	int error = 0;

	if (!s->n_files)
		return 0;
	error = add(l, LEAT_LINE_PLAIN, "%s", "");
	if (!error)
		error = add(l, LEAT_LINE_HEADING, "%9s  %-13s  %-7s  %s", "size", "state", "where",
			    "file");
	for (size_t i = 0; i < s->n_files && !error; i++)
		error = add_file(&s->files[i], l);
	return error;
}

int leat_snapshot_write(const struct leat_snapshot *s, struct leat_snapshot_lines *lines)
{
	int error;

	*lines = (struct leat_snapshot_lines){0};
	error = add_head(s, lines);
	if (!error)
		error = add_steps(s, lines);
	if (!error)
		error = add_waits(s, lines);
	if (!error)
		error = add_files(s, lines);
	if (error)
		leat_snapshot_lines_release(lines);
	return error;
}

void leat_snapshot_lines_release(struct leat_snapshot_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i].text);
	free(lines->v);
	*lines = (struct leat_snapshot_lines){0};
}
