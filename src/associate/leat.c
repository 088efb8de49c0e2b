/* leat's own event log: the first process of each step, when it began and when it ended. */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "eventlog/event.h"

struct reader {
	struct leat_associate_map *m;
	struct leat_associate_source *s;
	size_t source;
	int64_t since_ns; /* what the wall clock is ahead of the log's; 0 unknown */
	bool without_pids;
	/* By step: index in the map's pids of the present process; LEAT_ASSOCIATE_NONE. Owned. */
	size_t *running;
	size_t n_steps, space_steps;
};

static int make_space(struct reader *r, int step)
{
	while (r->n_steps <= (size_t)step) {
		if (leat_associate_grow(&r->running, r->n_steps, &r->space_steps,
					sizeof(*r->running)))
			return -ENOMEM;
		r->running[r->n_steps++] = LEAT_ASSOCIATE_NONE;
	}
	return 0;
}

/* More than any workflow has: a wrong number must not fill the memory. */
enum { STEPS_MAX = 1 << 20 };

/* A label leads to the first log's: from there to those of others. */
static struct leat_associate_entry *add_step(struct reader *r, const char *workflow,
					     const char *step)
{
	struct leat_associate_entry *first =
		leat_associate_entry(r->m, r->source, "leat", workflow, step, step, step);

	if (!first || first->source == LEAT_ASSOCIATE_NONE || first->source == r->source)
		return first;
	return leat_associate_entry_rival(r->m, first, r->source);
}

static int add_start(struct reader *r, const struct leat_event *ev)
{
	struct leat_associate_entry *e;
	struct leat_associate_pid *p;

	if (!ev->name || ev->pid <= 0 || !ev->offset || ev->offset > INT64_MAX) {
		r->without_pids = true;
		return 0;
	}
	r->since_ns = (int64_t)(ev->offset - ev->time_ns);
	e = add_step(r, ev->to ? ev->to : "", ev->name);
	if (!e || leat_associate_pid_add(r->m, e->task.number, ev->pid))
		return -ENOMEM;
	/* A step's environment may have made it; then it knows the task's name, too. */
	if (e->source == LEAT_ASSOCIATE_NONE)
		e->source = r->source;
	p = &r->m->pids[r->m->n_pids - 1];
	leat_associate_stamp_epoch_ns((int64_t)ev->offset, &p->began);
	if (!e->began.set)
		e->began = p->began;
	e->over = false;
	r->running[ev->step] = r->m->n_pids - 1;
	return leat_associate_entry_set(&e->task.status, "running");
}

static int add_end(struct reader *r, const struct leat_event *ev)
{
	struct leat_associate_pid *p;
	struct leat_associate_entry *e;

	if (r->running[ev->step] == LEAT_ASSOCIATE_NONE)
		return 0;
	p = &r->m->pids[r->running[ev->step]];
	e = r->m->tasks[p->task];
	leat_associate_stamp_epoch_ns((int64_t)(ev->time_ns + (uint64_t)r->since_ns), &p->ended);
	e->ended = p->ended;
	e->over = e->ended.set;
	r->running[ev->step] = LEAT_ASSOCIATE_NONE;
	return leat_associate_entry_set(&e->task.status, ev->status ? "failed" : "ok");
}

/* A run that was cut off has no ends: its processes are those that run at its last word. */
static void end_all(struct reader *r, uint64_t last_ns)
{
	for (size_t i = 0; i < r->n_steps; i++)
		if (r->running[i] != LEAT_ASSOCIATE_NONE)
			leat_associate_stamp_epoch_ns((int64_t)(last_ns + (uint64_t)r->since_ns),
						      &r->m->pids[r->running[i]].ended);
}

static int add_event(struct reader *r, const struct leat_event *ev)
{
	if (ev->kind != LEAT_EV_STEP_START && ev->kind != LEAT_EV_STEP_END)
		return 0;
	if (ev->step < 0 || ev->step >= STEPS_MAX) {
		leat_associate_complain(r->m, r->s, "step %d cannot be: it is left out", ev->step);
		return 0;
	}
	if (make_space(r, ev->step))
		return -ENOMEM;
	return ev->kind == LEAT_EV_STEP_START ? add_start(r, ev) : add_end(r, ev);
}

static int read_log(struct leat_associate_map *m, struct leat_associate_source *s, FILE *in)
{
	struct reader r = {.m = m, .s = s, .source = (size_t)(s - m->sources)};
	struct leat_event_reader *log = leat_event_reader_new(in);
	struct leat_event ev;
	uint64_t last_ns = 0;
	int result = 1, error = 0;

	if (!log)
		return -errno;
	while (!error && result != 0) {
		result = leat_event_read(log, &ev);
		s->line = leat_event_reader_line(log);
		if (result == -EINVAL) {
			leat_associate_complain(m, s, "malformed, or cut off: it is left out");
		} else if (result < 0) {
			error = result;
		} else if (result > 0) {
			last_ns = ev.time_ns;
			error = add_event(&r, &ev);
		}
	}
	end_all(&r, last_ns);
	if (r.since_ns)
		leat_associate_stamp_epoch_ns((int64_t)(last_ns + (uint64_t)r.since_ns), &s->last);
	if (!error && r.without_pids)
		leat_associate_note(
			m,
			"%s: it was written by an older leat and does not tell the steps' "
			"processes; they are known by their environment only",
			s->path);
	leat_event_reader_free(log);
	free(r.running);
	return error;
}

/* Of a step that leat runs, or that a shell says it is in. */
static int find_by_labels(struct leat_associate_map *m,
			  const struct leat_associate_environment *env, size_t *task)
{
	const char *step = leat_associate_variable(env, "LEAT_STEP");
	const char *app = leat_associate_either(env, "LEAT_APP_NAME", "CAPIO_APP_NAME");
	const char *workflow =
		leat_associate_either(env, "LEAT_WORKFLOW_NAME", "CAPIO_WORKFLOW_NAME");
	const char *logical = leat_associate_variable(env, "LEAT_TASK");
	struct leat_associate_entry *e;

	if (!step && !app)
		return 0;
	if (!workflow)
		workflow = "";
	e = step ? leat_associate_entry(m, LEAT_ASSOCIATE_NONE, "label", workflow, step, step, step)
		 : leat_associate_entry(m, LEAT_ASSOCIATE_NONE, "leat", workflow, app,
					logical ? logical : app, app);
	if (!e)
		return -ENOMEM;
	*task = e->task.number;
	return 1;
}

static const char *const signatures[] = {"# leat event log ", NULL};

const struct leat_associate_format leat_associate_leat = {
	.name = "leat",
	.option = "leat",
	.argument = "LOG",
	.doc = "An event log of leat run.",
	.signatures = signatures,
	.labels = find_by_labels,
	.read = read_log,
};
