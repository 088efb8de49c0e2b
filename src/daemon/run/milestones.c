#include "daemon/run/milestones.h"

#include "base/clock.h"
#include "daemon/files/files.h"
#include "daemon/run/run.h"
#include "model/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct leat_milestone_name {
	UT_hash_handle hh;
	char *text; /* owned; of all versions */
	uint32_t number;
};

void leat_milestones_release(struct leat_daemon *d)
{
	struct leat_milestone_name *name, *next;

	HASH_ITER(hh, d->run->milestones.names, name, next)
	{
		HASH_DEL(d->run->milestones.names, name);
		free(name->text);
		free(name);
	}
	free(d->run->milestones.v);
	d->run->milestones = (struct leat_milestones){0};
}

static uint32_t number_of(struct leat_daemon *d, const char *base)
{
	struct leat_milestone_name *name;

	HASH_FIND_STR(d->run->milestones.names, base, name);
	if (name)
		return name->number;
	name = calloc(1, sizeof(*name));
	if (!name)
		return 0;
	name->text = strdup(base);
	name->number = HASH_COUNT(d->run->milestones.names) + 1;
	if (name->text)
		HASH_ADD_KEYPTR(hh, d->run->milestones.names, name->text, strlen(name->text), name);
	if (name->text && name->hh.tbl)
		return name->number;
	free(name->text);
	free(name);
	return 0;
}

uint32_t leat_milestones_number(struct leat_daemon *d, struct leat_file *f)
{
	uint64_t version;

	if (!f->milestones_number)
		f->milestones_number = number_of(d, leat_version_base(f->name, &version));
	return f->milestones_number;
}

static void add(struct leat_daemon *d, struct leat_milestone milestone)
{
	struct leat_milestones *m = &d->run->milestones;

	if (m->n == m->capacity && m->n < LEAT_MILESTONES_MOST) {
		unsigned capacity = m->capacity ? 2 * m->capacity : 64;
		struct leat_milestone *grown = reallocarray(m->v, capacity, sizeof(*grown));

		if (grown) {
			m->v = grown;
			m->capacity = capacity;
		}
	}
	if (m->n == m->capacity) {
		m->n_left_out++;
		return;
	}
	milestone.time_ns = leat_clock_ns();
	m->v[m->n++] = milestone;
}

void leat_milestones_step(struct leat_daemon *d, enum leat_milestone_kind kind, int step)
{
	add(d, (struct leat_milestone){.kind = kind, .step = step});
}

/* Who makes it, if one step only can be meant. */
static int producer_of(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	int n = (int)d->wf->n_steps;
	int first = leat_steps_next(f->rule->producers, 0, n);

	if (first < n && leat_steps_next(f->rule->producers, first + 1, n) == n)
		return first;
	return step >= 0 && leat_steps_has(f->rule->producers, step) ? step : -1;
}

static void add_file(struct leat_daemon *d, enum leat_milestone_kind kind, struct leat_file *f,
		     int step)
{
	struct leat_milestone milestone = {.kind = kind, .step = step};

	leat_version_base(f->name, &milestone.version);
	milestone.file = leat_milestones_number(d, f);
	add(d, milestone);
}

void leat_milestones_file(struct leat_daemon *d, enum leat_milestone_kind kind, struct leat_file *f,
			  int step)
{
	if (f->rule->declared && !f->retired)
		add_file(d, kind, f, producer_of(d, f, step));
}

void leat_milestones_read(struct leat_daemon *d, struct leat_file *f, int step)
{
	if (f->rule->declared && step >= 0 && leat_file_note_open(d, f, step))
		add_file(d, LEAT_MILESTONE_READ, f, step);
}

void leat_milestones_put(const struct leat_daemon *d, struct leat_json *j)
{
	const struct leat_milestones *m = &d->run->milestones;
	const struct leat_milestone_name *name;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	leat_json_list(j, "files", true);
	for (name = m->names; name; name = name->hh.next)
		leat_json_string(j, NULL, name->text);
	leat_json_close(j);
	for (unsigned i = 0; out && i < m->n; i++)
		fprintf(out, "%" PRIu64 " %d %d %u %" PRIu64 ";",
			(m->v[i].time_ns - d->start_ns) / 1000, m->v[i].kind, m->v[i].step,
			m->v[i].file, m->v[i].version);
	leat_json_string(j, "marks", out && fclose(out) == 0 ? text : "");
	leat_json_number(j, "marks_left_out", m->n_left_out);
	free(text);
}
