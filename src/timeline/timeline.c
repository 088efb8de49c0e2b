#include "timeline/timeline.h"

#include "timeline/result.h"
#include "lang/syntax/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_NUMBERS = 8, MILESTONE_NUMBERS = 5 };

/* ---- rows of numbers: "1 2 3;4 5 6;" ---- */

static size_t count_rows(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, ';')); text++)
		n++;
	return n;
}

/* The next row; false: it is not `n` numbers. */
static bool read_row(const char **text, long long *v, size_t n)
{
	const char *at = *text;
	char *end;

	for (size_t i = 0; i < n; i++) {
		errno = 0;
		v[i] = strtoll(at, &end, 10);
		if (end == at || errno || *end != (i + 1 < n ? ' ' : ';'))
			return false;
		at = end + 1;
	}
	*text = at;
	return true;
}

static bool are_positive(const long long *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] < 0)
			return false;
	return true;
}

/* ---- reading ---- */

static const char *text_of(const struct leat_value *v)
{
	return v && v->kind == LEAT_VALUE_SCALAR ? v->text : NULL;
}

static uint64_t number_of(const struct leat_value *map, const char *key)
{
	const char *text = text_of(leat_value_get(map, key));

	return text ? strtoull(text, NULL, 10) : 0;
}

static int read_pieces(const char *text, size_t n_files, struct leat_timeline_line *line)
{
	size_t n = text ? count_rows(text) : 0;
	long long v[PIECE_NUMBERS];

	if (!text)
		return -EPROTO;
	line->v = calloc(n + 1, sizeof(*line->v));
	if (!line->v)
		return -ENOMEM;
	for (; line->n < n; line->n++) {
		struct leat_timeline_piece *p = &line->v[line->n];

		if (!read_row(&text, v, PIECE_NUMBERS) || !are_positive(v, PIECE_NUMBERS) ||
		    (size_t)v[7] > n_files)
			return -EPROTO;
		*p = (struct leat_timeline_piece){(uint64_t)v[0], (uint64_t)v[1], (uint64_t)v[2],
						  (uint64_t)v[3], (uint64_t)v[4], (uint64_t)v[5],
						  (uint64_t)v[6], (uint64_t)v[7]};
	}
	return 0;
}

static int read_lines(const struct leat_value *list, size_t n_steps, struct leat_timeline *t)
{
	int error = 0;

	if (!list || list->kind != LEAT_VALUE_LIST || list->n != n_steps)
		return -EPROTO;
	t->lines = calloc(n_steps + 1, sizeof(*t->lines));
	if (!t->lines)
		return -ENOMEM;
	t->n_lines = n_steps;
	for (size_t i = 0; i < n_steps && !error; i++)
		error = read_pieces(text_of(list->v[i]), t->n_files, &t->lines[i]);
	return error;
}

static int read_milestones(const char *text, size_t n_steps, struct leat_timeline *t)
{
	size_t n = text ? count_rows(text) : 0;
	long long v[MILESTONE_NUMBERS];

	if (!text)
		return -EPROTO;
	t->milestones = calloc(n + 1, sizeof(*t->milestones));
	if (!t->milestones)
		return -ENOMEM;
	for (; t->n_milestones < n; t->n_milestones++) {
		if (!read_row(&text, v, MILESTONE_NUMBERS) || v[0] < 0 || v[1] < 0 ||
		    v[1] >= LEAT_TIMELINE_KINDS || v[2] < -1 || v[2] >= (long long)n_steps ||
		    v[3] < 0 || v[3] > (long long)t->n_files || v[4] < 0)
			return -EPROTO;
		t->milestones[t->n_milestones] = (struct leat_timeline_milestone){
			(uint64_t)v[0], (enum leat_timeline_kind)v[1], (long)v[2], (uint64_t)v[3],
			(uint64_t)v[4]};
	}
	return 0;
}

static int read_files(const struct leat_value *list, struct leat_timeline *t)
{
	if (!list || list->kind != LEAT_VALUE_LIST)
		return -EPROTO;
	t->files = calloc(list->n + 1, sizeof(*t->files));
	if (!t->files)
		return -ENOMEM;
	for (; t->n_files < list->n; t->n_files++) {
		const char *name = text_of(list->v[t->n_files]);

		if (!name)
			return -EPROTO;
		t->files[t->n_files] = strdup(name);
		if (!t->files[t->n_files])
			return -ENOMEM;
	}
	return 0;
}

int leat_timeline_read(const struct leat_value *summary, size_t n_steps, struct leat_timeline *t)
{
	const struct leat_value *from = leat_value_get(summary, "timeline");
	int error;

	if (!from)
		return 0;
	if (from->kind != LEAT_VALUE_MAP)
		return -EPROTO;
	t->start_ns = number_of(summary, "start_ns");
	t->interval_ms = number_of(from, "interval_ms");
	t->marks_left_out = number_of(from, "marks_left_out");
	error = read_files(leat_value_get(from, "files"), t);
	if (!error)
		error = read_milestones(text_of(leat_value_get(from, "marks")), n_steps, t);
	if (!error)
		error = read_lines(leat_value_get(from, "pieces"), n_steps, t);
	if (error)
		leat_timeline_release(t);
	return error;
}

void leat_timeline_release(struct leat_timeline *t)
{
	for (size_t i = 0; i < t->n_lines; i++)
		free(t->lines[i].v);
	for (size_t i = 0; i < t->n_files; i++)
		free(t->files[i]);
	free(t->lines);
	free(t->milestones);
	free(t->files);
	*t = (struct leat_timeline){0};
}

/* ---- what it says ---- */

static uint64_t subtract_up_to(uint64_t *left, uint64_t part)
{
	uint64_t taken = part < *left ? part : *left;

	*left -= taken;
	return taken;
}

void leat_timeline_total(const struct leat_result *r, size_t step, struct leat_timeline_totals *out)
{
	const struct leat_step_result *s = &r->steps[step];
	const struct leat_timeline *t = &r->timeline;
	uint64_t copy_us = 0, rest_us = 0, left;

	*out = (struct leat_timeline_totals){0};
	if (!s->start_ns)
		return;
	for (size_t i = 0; step < t->n_lines && i < t->lines[step].n; i++) {
		copy_us += t->lines[step].v[i].copy_us;
		rest_us += t->lines[step].v[i].rest_us;
	}
	left = out->wall_us = leat_step_wall_ns(r, s) / 1000;
	out->wait_us = subtract_up_to(&left, leat_step_wait_ns(s) / 1000);
	out->rest_us = subtract_up_to(&left, rest_us);
	out->copy_us = subtract_up_to(&left, copy_us);
	out->compute_us = left;
}

const struct leat_timeline_milestone *
leat_timeline_source(const struct leat_timeline *t, const struct leat_timeline_milestone *read)
{
	const struct leat_timeline_milestone *found = NULL;

	for (size_t i = 0; i < t->n_milestones; i++) {
		const struct leat_timeline_milestone *m = &t->milestones[i];

		if (m->kind != LEAT_TIMELINE_COMMIT || m->file != read->file ||
		    m->version != read->version || m->step < 0 || m->step == read->step)
			continue;
		if (found && m->time_us > read->time_us)
			break;
		found = m;
	}
	return found;
}

uint64_t leat_timeline_since_start(const struct leat_result *r, uint64_t us)
{
	uint64_t at_ns = r->timeline.start_ns + us * 1000;

	return at_ns > r->start_ns ? (at_ns - r->start_ns) / 1000 : 0;
}
