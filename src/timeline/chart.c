#include "timeline/result.h"

#include <string.h>

enum cell { CELL_NONE, CELL_WAITING, CELL_RUNNING };

static const char *const shapes[2][3] = {{" ", ".", "#"}, {" ", "░", "█"}};

/* Does the step wait for at least half of [from, to)? Times since the start of the run. */
static bool is_waiting(const struct leat_result *r, size_t step, uint64_t from_ns, uint64_t to_ns)
{
	size_t first = r->sample_ns ? (size_t)(from_ns / r->sample_ns) : 0;
	size_t last = r->sample_ns ? (size_t)(to_ns / r->sample_ns) : 0;
	size_t waiting = 0, n = 0;

	for (size_t i = first; i <= last && i < r->n_samples; i++, n++)
		waiting += r->samples[i * r->n_steps + step];
	return n && 2 * waiting >= n;
}

static enum cell cell_at(const struct leat_result *r, size_t step, uint64_t from_ns, uint64_t to_ns)
{
	const struct leat_step_result *s = &r->steps[step];

	if (!s->start_ns || s->start_ns - r->start_ns >= to_ns)
		return CELL_NONE;
	/* However short a step is, one cell shows it. */
	if (s->end_ns && s->end_ns - r->start_ns <= from_ns && s->start_ns - r->start_ns < from_ns)
		return CELL_NONE;
	return is_waiting(r, step, from_ns, to_ns) ? CELL_WAITING : CELL_RUNNING;
}

static void print_bar(const struct leat_result *r, size_t step, int width, FILE *out, bool utf8)
{
	uint64_t span_ns = r->end_ns - r->start_ns;
	int last = -1;

	for (int i = 0; i < width; i++)
		if (cell_at(r, step, span_ns * (uint64_t)i / (uint64_t)width,
			    span_ns * (uint64_t)(i + 1) / (uint64_t)width) != CELL_NONE)
			last = i;
	for (int i = 0; i <= last; i++)
		fputs(shapes[utf8][cell_at(r, step, span_ns * (uint64_t)i / (uint64_t)width,
					   span_ns * (uint64_t)(i + 1) / (uint64_t)width)],
		      out);
	fputc('\n', out);
}

void leat_chart_print(const struct leat_result *r, FILE *out, int width, bool utf8)
{
	char total[24];
	int names = 4;
	int bar;

	for (size_t i = 0; i < r->n_steps; i++)
		if ((int)strlen(r->steps[i].name) > names)
			names = (int)strlen(r->steps[i].name);
	if (names > width / 3)
		names = width / 3;
	bar = width - names - 2;
	if (bar < 10)
		bar = 10;
	leat_format_seconds(r->end_ns - r->start_ns, total);
	fprintf(out, "%-*s  0 s%*s\n", names, "", bar - 3, total);
	for (size_t i = 0; i < r->n_steps; i++) {
		fprintf(out, "%-*.*s  ", names, names, r->steps[i].name);
		print_bar(r, i, bar, out, utf8);
	}
	fprintf(out, "%-*s  %s running", names, "", shapes[utf8][CELL_RUNNING]);
	if (r->streamed)
		fprintf(out, "   %s waiting for its input", shapes[utf8][CELL_WAITING]);
	fputc('\n', out);
}
