#include "control/status.h"

#include "base/format.h"
#include "lang/syntax/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_SAMPLES = 600 };

/* The parsed text, freed by the caller, or NULL and *error. */
static struct leat_value *parse(const char *json, int *error)
{
	struct leat_diags *diags = leat_diags_new("status", NULL);
	struct leat_value *root = NULL;

	*error = diags ? leat_value_parse(json, strlen(json), 0, true, diags, &root) : -ENOMEM;
	if (*error == -EINVAL || (*error == 0 && root->kind != LEAT_VALUE_MAP))
		*error = -EPROTO;
	if (*error) {
		leat_value_free(root);
		root = NULL;
	}
	leat_diags_free(diags);
	return root;
}

/* Elements of the list `key`, 0 if there is none. */
static size_t list_of(const struct leat_value *map, const char *key, struct leat_value ***v)
{
	const struct leat_value *list = leat_value_get(map, key);

	if (!list || list->kind != LEAT_VALUE_LIST)
		return 0;
	*v = list->v;
	return list->n;
}

/* Append `name` to "a, b" unless it is there. */
static void add_name(char *out, size_t out_size, const char *name)
{
	size_t used = strlen(out), length = strlen(name);

	for (const char *p = out; (p = strstr(p, name)); p += length)
		if ((p == out || p[-1] == ' ') && (p[length] == ',' || !p[length]))
			return;
	snprintf(out + used, out_size - used, "%s%s", used ? ", " : "", name);
}

static void add_names(const struct leat_value *map, const char *key, char *out, size_t out_size)
{
	struct leat_value **names;
	size_t n = list_of(map, key, &names);

	for (size_t i = 0; i < n; i++)
		if (names[i]->kind == LEAT_VALUE_SCALAR)
			add_name(out, out_size, names[i]->text);
}

void leat_status_missing(const char *json, char *out, size_t out_size)
{
	struct leat_value **waits;
	int error;
	struct leat_value *root = parse(json, &error);
	size_t n = list_of(root, "waits", &waits);

	*out = 0;
	for (size_t i = 0; i < n; i++)
		add_names(waits[i], "missing", out, out_size);
	leat_value_free(root);
}

static void read_step(const struct leat_value *v, struct leat_step_result *s)
{
	s->start_ns = leat_value_number(v, "start_ns");
	s->end_ns = leat_value_number(v, "end_ns");
	s->status = (int)strtol(leat_value_text(v, "status"), NULL, 10);
	s->counters = (struct leat_counters){
		.bytes_in = leat_value_number(v, "bytes_in"),
		.bytes_out = leat_value_number(v, "bytes_out"),
		.wait_ns = leat_value_number(v, "wait_ns"),
		.waiting = leat_value_number(v, "waiting"),
		.throttled_ns = leat_value_number(v, "throttled_ns"),
		.limit_mbps = leat_value_number(v, "limit_mbps"),
	};
}

/* Time in which nobody ran, before the first step and after the last, is not counted. */
static void find_span(struct leat_result *r, uint64_t now_ns)
{
	r->start_ns = now_ns;
	r->end_ns = 0;
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct leat_step_result *s = &r->steps[i];
		uint64_t end_ns = s->end_ns ? s->end_ns : now_ns;

		if (!s->start_ns)
			continue;
		if (s->start_ns < r->start_ns)
			r->start_ns = s->start_ns;
		if (end_ns > r->end_ns)
			r->end_ns = end_ns;
	}
	if (r->end_ns < r->start_ns)
		r->end_ns = r->start_ns;
}

/* The piece of the line that holds that moment; NULL: none does. */
static const struct leat_timeline_piece *piece_at(const struct leat_timeline_line *line,
						  uint64_t us)
{
	size_t low = 0, high = line->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct leat_timeline_piece *p = &line->v[middle];

		if (us < p->begin_us)
			high = middle;
		else if (us >= p->begin_us + p->length_us)
			low = middle + 1;
		else
			return p;
	}
	return NULL;
}

/* What the chart shows of the timeline: who waited, at so many moments of the run. */
static int make_samples(struct leat_result *r)
{
	const struct leat_timeline *t = &r->timeline;
	uint64_t span_us = (r->end_ns - r->start_ns) / 1000;

	if (!t->lines || !span_us || r->start_ns < t->start_ns)
		return 0;
	r->samples = calloc(CHART_SAMPLES, r->n_steps);
	if (!r->samples)
		return -ENOMEM;
	r->n_samples = CHART_SAMPLES;
	r->sample_ns = (r->end_ns - r->start_ns) / CHART_SAMPLES + 1;
	for (size_t k = 0; k < CHART_SAMPLES; k++) {
		uint64_t us = (r->start_ns - t->start_ns + k * r->sample_ns) / 1000;

		for (size_t i = 0; i < r->n_steps; i++) {
			const struct leat_timeline_piece *p = piece_at(&t->lines[i], us);

			r->samples[k * r->n_steps + i] =
				p && 2 * (p->wait_us + p->rest_us) >= p->length_us;
		}
	}
	return 0;
}

/* The daemon's status 1 << 8 may stand for an exit with 0 that was not believed. */
static void judge_step(const struct leat_value *v, struct leat_step_result *s)
{
	const char *cause = leat_value_text(v, "cause");

	s->settled = strcmp(leat_value_text(v, "settled"), "true") == 0;
	if (*cause && strcmp(leat_value_text(v, "state"), "failed") == 0) {
		s->spoiled = true;
		leat_result_blame(s, "%s", cause);
	}
}

static int lose(struct leat_result *r, const struct leat_value *root, const char *key)
{
	struct leat_value **files;
	size_t n = list_of(root, key, &files);
	int error = 0;

	for (size_t i = 0; i < n && !error; i++)
		error = leat_result_lose(r, leat_value_text(files[i], "name"),
					 leat_value_text(files[i], "step"),
					 leat_value_text(files[i], "why"));
	return error;
}

static int take_unmade(struct leat_result *r, const struct leat_value *root)
{
	struct leat_value **files;
	size_t n = list_of(root, "unmade_files", &files);
	int error = 0;

	for (size_t i = 0; i < n && !error; i++)
		error = leat_result_miss(r, leat_value_text(files[i], "name"),
					 leat_value_text(files[i], "step"),
					 leat_value_text(files[i], "removed_by"),
					 strcmp(leat_value_text(files[i], "error"), "true") == 0);
	return error;
}

static int take_losses(const struct leat_value *root, struct leat_result *r)
{
	struct leat_value **steps;
	size_t n = list_of(root, "steps", &steps);
	int error;

	if (n != r->n_steps)
		return -EPROTO;
	for (size_t i = 0; i < n; i++)
		judge_step(steps[i], &r->steps[i]);
	error = lose(r, root, "failed_files");
	if (!error)
		error = lose(r, root, "unsaved_files");
	return error ? error : take_unmade(r, root);
}

int leat_status_losses(const char *json, struct leat_result *result)
{
	int error;
	struct leat_value *root = parse(json, &error);

	if (root)
		error = take_losses(root, result);
	if (root && !error)
		error = leat_timeline_read(root, result->n_steps, &result->timeline);
	leat_value_free(root);
	return error;
}

static int take_result(const struct leat_value *root, struct leat_result *r)
{
	struct leat_value **steps;
	size_t n = list_of(root, "steps", &steps);
	int error;

	if (n != r->n_steps)
		return -EPROTO;
	for (size_t i = 0; i < n; i++)
		read_step(steps[i], &r->steps[i]);
	r->streamed = true;
	find_span(r, leat_value_number(root, "now_ns"));
	error = take_losses(root, r);
	if (!error)
		error = leat_timeline_read(root, r->n_steps, &r->timeline);
	return error ? error : make_samples(r);
}

int leat_status_result(const char *json, struct leat_result *result)
{
	int error;
	struct leat_value *root = parse(json, &error);

	if (root)
		error = take_result(root, result);
	leat_value_free(root);
	return error;
}

/* What the step is doing, in words. */
static void describe(const struct leat_value *root, const struct leat_value *step, char *out,
		     size_t out_size)
{
	const char *state = leat_value_text(step, "state");
	struct leat_value **waits;
	size_t n = list_of(root, "waits", &waits);

	snprintf(out, out_size, "%s", strcmp(state, "waiting") == 0 ? "not started" : state);
	for (size_t i = 0; i < n; i++) {
		char names[200] = "";

		if (strcmp(leat_value_text(waits[i], "step"), leat_value_text(step, "name")) != 0)
			continue;
		add_names(waits[i], "needs", names, sizeof(names));
		snprintf(out, out_size, "waiting for %s%s%s", leat_value_text(waits[i], "file"),
			 *names ? " of " : "", names);
	}
}

static void print_step(const struct leat_value *root, const struct leat_value *step, FILE *out)
{
	uint64_t start_ns = leat_value_number(step, "start_ns");
	uint64_t end_ns = leat_value_number(step, "end_ns");
	char wall[24] = "-", in[24], written[24], words[400];

	if (!end_ns)
		end_ns = leat_value_number(root, "now_ns");
	if (start_ns)
		leat_format_seconds(end_ns - start_ns, wall);
	describe(root, step, words, sizeof(words));
	fprintf(out, "%-16s  %10s  %9s  %9s  %s\n", leat_value_text(step, "name"), wall,
		leat_format_bytes(leat_value_number(step, "bytes_in"), in),
		leat_format_bytes(leat_value_number(step, "bytes_out"), written), words);
}

static void print_files(const struct leat_value *root, FILE *out)
{
	static const char *const states[] = {"produced", "committed", "failed"};
	static const char *const words[] = {"being written", "complete", "failed"};
	struct leat_value **files;
	size_t n = list_of(root, "files", &files);
	size_t counts[3] = {0};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 3; k++)
			counts[k] += strcmp(leat_value_text(files[i], "state"), states[k]) == 0;
	fprintf(out, "files: %zu %s, %zu %s, %zu %s\n", counts[0], words[0], counts[1], words[1],
		counts[2], words[2]);
}

static void print_memory(const struct leat_value *root, FILE *out)
{
	const struct leat_value *m = leat_value_get(root, "memory");
	char used[24], budget[24], spilled[24];

	if (!m || m->kind != LEAT_VALUE_MAP)
		return;
	fprintf(out, "memory for files: %s of %s, spilled to disk %s\n",
		leat_format_bytes(leat_value_number(m, "used_bytes"), used),
		leat_format_bytes(leat_value_number(m, "budget_bytes"), budget),
		leat_format_bytes(leat_value_number(m, "spilled_bytes"), spilled));
}

int leat_status_print(const char *json, FILE *out)
{
	struct leat_value **steps;
	int error;
	struct leat_value *root = parse(json, &error);
	size_t n = list_of(root, "steps", &steps);

	if (!root)
		return error;
	fprintf(out, "%s in %s\n%-16s  %10s  %9s  %9s  %s\n", leat_value_text(root, "workflow"),
		leat_value_text(root, "dir"), "step", "time", "bytes in", "bytes out", "state");
	for (size_t i = 0; i < n; i++)
		print_step(root, steps[i], out);
	print_files(root, out);
	print_memory(root, out);
	leat_value_free(root);
	return 0;
}
