#include "control/snapshot.h"

#include "base/str.h"
#include "lang/syntax/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS 1e9

/* ---- reading ---- */

/* The list `key` of maps, or NULL. */
static const struct leat_value *maps_of(const struct leat_value *map, const char *key)
{
	const struct leat_value *list = leat_value_get(map, key);

	if (!list || list->kind != LEAT_VALUE_LIST)
		return NULL;
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i]->kind != LEAT_VALUE_MAP)
			return NULL;
	return list;
}

/* "a, b"; NULL when out of memory. */
static char *join(const struct leat_value *list)
{
	char *text = strdup("");

	for (size_t i = 0; text && list && list->kind == LEAT_VALUE_LIST && i < list->n; i++) {
		const struct leat_value *v = list->v[i];
		char *longer = leat_strf("%s%s%s", text, *text ? ", " : "",
					 v->kind == LEAT_VALUE_SCALAR ? v->text : "?");

		free(text);
		text = longer;
	}
	return text;
}

static int read_waits(const struct leat_value *list, struct leat_snapshot *s)
{
	s->waits = calloc(list->n + 1, sizeof(*s->waits));
	if (!s->waits)
		return -ENOMEM;
	for (; s->n_waits < list->n; s->n_waits++) {
		const struct leat_value *v = list->v[s->n_waits];
		struct leat_snapshot_wait *w = &s->waits[s->n_waits];

		w->step = strdup(leat_value_text(v, "step"));
		w->file = strdup(leat_value_text(v, "file"));
		w->needs = join(leat_value_get(v, "needs"));
		if (!w->step || !w->file || !w->needs) {
			s->n_waits++;
			return -ENOMEM;
		}
	}
	return 0;
}

static const struct leat_snapshot_wait *wait_of(const struct leat_snapshot *s, const char *step)
{
	for (size_t i = 0; i < s->n_waits; i++)
		if (!strcmp(s->waits[i].step, step))
			return &s->waits[i];
	return NULL;
}

/* What the step is doing, in words. */
static char *describe(const struct leat_snapshot *s, const struct leat_value *v, bool waits)
{
	const struct leat_snapshot_wait *w = wait_of(s, leat_value_text(v, "name"));
	const char *state = leat_value_text(v, "state");

	if (!strcmp(state, "failed"))
		return strdup(leat_value_text(v, "reason"));
	if (strcmp(state, "running") != 0)
		return strdup("");
	if (w && *w->needs)
		return leat_strf("waits for %s of %s", w->file, w->needs);
	if (w)
		return leat_strf("waits for %s", w->file);
	if (!strcmp(leat_value_text(v, "idle"), "true"))
		return strdup("between two launches");
	/* Only longer waits are known to the daemon. */
	return strdup(waits ? "waits" : "");
}

static int read_step(const struct leat_value *v, struct leat_snapshot *s,
		     struct leat_snapshot_step *out)
{
	uint64_t start_ns = leat_value_number(v, "start_ns"),
		 end_ns = leat_value_number(v, "end_ns");

	if (!end_ns)
		end_ns = s->now_ns;
	out->waits = leat_value_number(v, "waiting") > 0 &&
		     !strcmp(leat_value_text(v, "state"), "running");
	out->name = strdup(leat_value_text(v, "name"));
	out->state = strdup(leat_value_text(v, "state"));
	out->doing = describe(s, v, out->waits);
	out->wall_ns = start_ns && end_ns > start_ns ? end_ns - start_ns : 0;
	out->wait_ns = leat_value_number(v, "wait_ns");
	out->cpu_ns = leat_value_number(v, "cpu_ns");
	out->bytes_in = leat_value_number(v, "bytes_in");
	out->bytes_out = leat_value_number(v, "bytes_out");
	if (out->wait_ns > out->wall_ns)
		out->wait_ns = out->wall_ns;
	return out->name && out->state && out->doing ? 0 : -ENOMEM;
}

static int read_steps(const struct leat_value *list, struct leat_snapshot *s)
{
	int error = 0;

	s->steps = calloc(list->n + 1, sizeof(*s->steps));
	if (!s->steps)
		return -ENOMEM;
	for (size_t i = 0; i < list->n && !error; i++) {
		s->steps[i].place = i;
		error = read_step(list->v[i], s, &s->steps[i]);
		s->n_steps++;
	}
	return error;
}

static int read_files(const struct leat_value *list, struct leat_snapshot *s)
{
	s->files = calloc(list->n + 1, sizeof(*s->files));
	if (!s->files)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		struct leat_snapshot_file *f = &s->files[s->n_files++];

		f->name = strdup(leat_value_text(list->v[i], "name"));
		f->state = strdup(leat_value_text(list->v[i], "state"));
		f->place = strdup(leat_value_text(list->v[i], "place"));
		f->bytes = leat_value_number(list->v[i], "bytes");
		f->writers = leat_value_number(list->v[i], "writers");
		if (!f->name || !f->state || !f->place)
			return -ENOMEM;
	}
	return 0;
}

static int read_all(const struct leat_value *root, struct leat_snapshot *s)
{
	const struct leat_value *memory = leat_value_get(root, "memory");
	const struct leat_value *steps = maps_of(root, "steps"), *files = maps_of(root, "files"),
				*waits = maps_of(root, "waits");
	int error;

	if (!steps || !files || !waits)
		return -EPROTO;
	s->workflow = strdup(leat_value_text(root, "workflow"));
	s->dir = strdup(leat_value_text(root, "dir"));
	s->start_ns = leat_value_number(root, "start_ns");
	s->now_ns = leat_value_number(root, "now_ns");
	s->budget_bytes = leat_value_number(memory, "budget_bytes");
	s->used_bytes = leat_value_number(memory, "used_bytes");
	s->spilled_bytes = leat_value_number(memory, "spilled_bytes");
	error = s->workflow && s->dir ? read_waits(waits, s) : -ENOMEM;
	if (!error)
		error = read_steps(steps, s);
	return error ? error : read_files(files, s);
}

int leat_snapshot_read(const char *json, struct leat_snapshot *s)
{
	struct leat_diags *diags = leat_diags_new("status", NULL);
	struct leat_value *root = NULL;
	int error;

	*s = (struct leat_snapshot){0};
	error = diags ? leat_value_parse(json, strlen(json), 0, true, diags, &root) : -ENOMEM;
	if (error == -EINVAL)
		error = -EPROTO;
	if (!error)
		error = read_all(root, s);
	if (error)
		leat_snapshot_release(s);
	leat_value_free(root);
	leat_diags_free(diags);
	return error;
}

void leat_snapshot_release(struct leat_snapshot *s)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		free(s->steps[i].name);
		free(s->steps[i].state);
		free(s->steps[i].doing);
	}
	for (size_t i = 0; i < s->n_files; i++) {
		free(s->files[i].name);
		free(s->files[i].state);
		free(s->files[i].place);
	}
	for (size_t i = 0; i < s->n_waits; i++) {
		free(s->waits[i].step);
		free(s->waits[i].file);
		free(s->waits[i].needs);
	}
	free(s->steps);
	free(s->files);
	free(s->waits);
	free(s->workflow);
	free(s->dir);
	*s = (struct leat_snapshot){0};
}

/* ---- rates ---- */

static double per_second(uint64_t now, uint64_t before, double seconds)
{
	return seconds > 0 && now > before ? (double)(now - before) / seconds : 0;
}

/* As it was before, by its name: the order may be another. */
static const struct leat_snapshot_step *find(const struct leat_snapshot *s, size_t place)
{
	for (size_t i = 0; i < s->n_steps; i++)
		if (s->steps[i].place == place)
			return &s->steps[i];
	return NULL;
}

void leat_snapshot_compare(struct leat_snapshot *s, const struct leat_snapshot *before)
{
	static const struct leat_snapshot_step none;

	for (size_t i = 0; i < s->n_steps; i++) {
		struct leat_snapshot_step *step = &s->steps[i];
		const struct leat_snapshot_step *old = before ? find(before, step->place) : &none;
		double seconds;

		if (!old)
			old = &none;
		/* Of a step that has ended meanwhile the last of its time. */
		seconds =
			(double)(step->wall_ns > old->wall_ns ? step->wall_ns - old->wall_ns : 0) /
			NS;
		step->cpus = per_second(step->cpu_ns, old->cpu_ns, seconds) / NS;
		step->in_rate = per_second(step->bytes_in, old->bytes_in, seconds);
		step->out_rate = per_second(step->bytes_out, old->bytes_out, seconds);
	}
}

/* ---- order ---- */

struct order {
	enum leat_snapshot_key key;
	bool reverse;
};

static int by_size(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_by(enum leat_snapshot_key key, const struct leat_snapshot_step *a,
		      const struct leat_snapshot_step *b)
{
	switch (key) {
	case LEAT_SORT_NAME:
		return strverscmp(a->name, b->name);
	case LEAT_SORT_WALL:
		return by_size((double)a->wall_ns, (double)b->wall_ns);
	case LEAT_SORT_WAITING:
		return by_size((double)a->wait_ns, (double)b->wait_ns);
	case LEAT_SORT_CPU:
		return by_size(a->cpus, b->cpus);
	case LEAT_SORT_IN:
		return by_size(a->in_rate, b->in_rate);
	case LEAT_SORT_OUT:
		return by_size(a->out_rate, b->out_rate);
	case LEAT_SORT_ORDER:
		break;
	}
	return (a->place > b->place) - (a->place < b->place);
}

static int compare_steps(const void *a, const void *b, void *ctx)
{
	const struct leat_snapshot_step *one = a, *two = b;
	const struct order *order = ctx;
	int c = compare_by(order->key, one, two);

	if (order->reverse)
		c = -c;
	return c ? c : (one->place > two->place) - (one->place < two->place);
}

static int compare_files(const void *a, const void *b)
{
	const struct leat_snapshot_file *one = a, *two = b;
	int written = !strcmp(two->state, "produced") - !strcmp(one->state, "produced");

	if (written)
		return written;
	if (one->bytes != two->bytes)
		return one->bytes < two->bytes ? 1 : -1;
	return strverscmp(one->name, two->name);
}

void leat_snapshot_sort(struct leat_snapshot *s, enum leat_snapshot_key key, bool reverse)
{
	struct order order = {key, reverse};

	qsort_r(s->steps, s->n_steps, sizeof(*s->steps), compare_steps, &order);
	qsort(s->files, s->n_files, sizeof(*s->files), compare_files);
}
