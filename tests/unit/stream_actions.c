/* Which actions are possible, and what they are as events and words. */
#include "stream_trace.h"

#include <stdio.h>

static bool process_gone(const struct oracle *o, int step, int process)
{
	bool killed;

	return trace_process_end(o, step, process, &killed) < o->n;
}

static int opens(const struct oracle *o)
{
	int n = 0;

	for (int i = 0; i < o->n; i++)
		n += opens_file(o->trace[i].verb);
	return n;
}

struct menu {
	const struct oracle *o;
	const struct view *v;
	struct action *out;
	int n, capacity;
};

static void offer(struct menu *m, struct action a)
{
	if (m->o->plan->verbs[a.step] & a.verb && m->n < m->capacity)
		m->out[m->n++] = a;
}

static void offer_steps(struct menu *m, int step)
{
	const struct oracle *o = m->o;

	if (trace_started(o, step) > trace_ended(o, step)) {
		offer(m, (struct action){.verb = END, .step = step});
		offer(m, (struct action){.verb = FAIL, .step = step});
	}
	if (trace_started(o, step) < trace_instances(o, step))
		offer(m, (struct action){.verb = START, .step = step});
	if (!trace_count(o, CLOSED, step))
		offer(m, (struct action){.verb = CLOSED, .step = step});
}

static bool process_used(const struct oracle *o, int step, int process)
{
	for (int i = 0; i < o->n; i++)
		if (opens_file(o->trace[i].verb) && o->trace[i].step == step &&
		    o->trace[i].process == process)
			return true;
	return false;
}

/* Processes are alike: the second is used only after the first. */
static void offer_processes(struct menu *m, int step)
{
	const struct oracle *o = m->o;

	for (int process = 0; process < 2; process++) {
		struct action a = {.step = step, .process = process, .ofd = opens(o) + 1};
		bool used = process_used(o, step, process);

		if (process_gone(o, step, process) ||
		    (process && !used && !process_used(o, step, 0)))
			continue;
		for (a.name = 0; a.name < o->plan->n_names && opens(o) < o->plan->opens; a.name++) {
			if (o->plan->names[a.name].is_dir)
				continue;
			a.verb = CREAT;
			offer(m, a);
			if (m->v->name[a.name] == NONE)
				continue;
			a.verb = APPEND;
			offer(m, a);
			a.verb = EDIT;
			offer(m, a);
		}
		a.name = a.ofd = 0;
		a.verb = EXIT;
		if (used)
			offer(m, a);
		a.verb = KILL;
		if (used)
			offer(m, a);
	}
}

static void offer_closes(struct menu *m, int step)
{
	static const enum verb verbs[] = {CLOSE, EMPTY, ABORT, EXTENT};
	const struct oracle *o = m->o;

	for (int i = 0; i < o->n; i++) {
		struct action a = {.step = step, .ofd = o->trace[i].ofd};

		if (!opens_file(o->trace[i].verb) || o->trace[i].step != step ||
		    m->v->of_ofd[a.ofd] == NONE)
			continue;
		a.verb = WRITE;
		if (trace_is_intact(o, a.ofd))
			offer(m, a);
		for (size_t k = 0; k < sizeof(verbs) / sizeof(verbs[0]); k++) {
			a.verb = verbs[k];
			offer(m, a);
		}
	}
}

static void offer_names(struct menu *m, int step)
{
	const struct plan *plan = m->o->plan;

	for (int from = 0; from < plan->n_names; from++) {
		struct action a = {.verb = UNLINK, .step = step, .name = from};

		if (m->v->name[from] == NONE || plan->names[from].is_dir)
			continue;
		offer(m, a);
		for (a.to = 0; a.to < plan->n_names; a.to++) {
			if (a.to == from || plan->names[a.to].is_dir)
				continue;
			a.verb = MOVE;
			offer(m, a);
			a.verb = LINK;
			if (m->v->name[a.to] == NONE)
				offer(m, a);
		}
	}
}

int oracle_enabled(const struct oracle *o, struct action *out, int capacity)
{
	static struct view v;
	struct menu m = {.o = o, .v = &v, .out = out, .capacity = capacity};

	trace_look(&v, o);
	for (int step = 0; step < o->plan->n_steps; step++) {
		offer_steps(&m, step);
		offer_processes(&m, step);
		offer_closes(&m, step);
		offer_names(&m, step);
	}
	return m.n;
}

bool oracle_next_to_finish(const struct oracle *o, struct action *out)
{
	static struct view v;

	trace_look(&v, o);
	for (int i = 0; i < o->n; i++) {
		const struct action *a = &o->trace[i];

		if (opens_file(a->verb) && v.of_ofd[a->ofd] != NONE) {
			*out = (struct action){.verb = CLOSE, .step = a->step, .ofd = a->ofd};
			return true;
		}
	}
	for (int step = 0; step < o->plan->n_steps; step++) {
		if (trace_step_over(o, step))
			continue;
		*out = (struct action){
			.step = step,
			.verb = trace_started(o, step) > trace_ended(o, step) ? END : START};
		return true;
	}
	return false;
}

/* ---- actions as events and words ---- */

void oracle_event(const struct oracle *o, const struct action *a, struct leat_event *ev)
{
	const struct plan *plan = o->plan;

	*ev = (struct leat_event){.step = a->step,
				  .pid = 10 * (a->step + 1) + a->process,
				  .name = plan->names[a->name].text};
	switch (a->verb) {
	case START:
		ev->kind = LEAT_EV_STEP_START;
		break;
	case END:
	case FAIL:
		ev->kind = LEAT_EV_STEP_END;
		ev->status = a->verb == FAIL;
		break;
	case CLOSED:
		ev->kind = LEAT_EV_STEP_CLOSED;
		break;
	case CREAT:
	case APPEND:
	case EDIT:
		ev->kind = LEAT_EV_OPEN;
		ev->ofd = (uint64_t)a->ofd;
		ev->flags = a->verb == CREAT  ? LEAT_EVF_CREAT | LEAT_EVF_TRUNC
			    : a->verb == EDIT ? LEAT_EVF_INTACT
					      : 0;
		break;
	case WRITE:
		ev->kind = LEAT_EV_WRITE;
		ev->ofd = (uint64_t)a->ofd;
		break;
	case CLOSE:
	case EMPTY:
	case ABORT:
		ev->kind = LEAT_EV_CLOSE;
		ev->ofd = (uint64_t)a->ofd;
		ev->length = a->verb == CLOSE ? 5 : 0;
		ev->flags = a->verb == ABORT ? LEAT_EVF_ABNORMAL : 0;
		break;
	case EXIT:
	case KILL:
		ev->kind = LEAT_EV_PROC_EXIT;
		ev->status = a->verb == KILL ? -9 : 0;
		break;
	case EXTENT:
		ev->kind = LEAT_EV_EXTENT;
		ev->ofd = (uint64_t)a->ofd;
		ev->length = 5;
		break;
	case MOVE:
		ev->kind = LEAT_EV_RENAME;
		ev->to = plan->names[a->to].text;
		break;
	case LINK:
		ev->kind = LEAT_EV_CREATE;
		ev->to = ev->name;
		ev->name = plan->names[a->to].text;
		break;
	case UNLINK:
		ev->kind = LEAT_EV_UNLINK;
		break;
	}
}

void oracle_describe(const struct oracle *o, const struct action *a, char *out, size_t size)
{
	struct leat_event ev;

	oracle_event(o, a, &ev);
	snprintf(out, size, "%s %c", leat_event_kind_name(ev.kind), 'A' + a->step);
	if (ev.kind == LEAT_EV_OPEN)
		snprintf(out, size, "%s %c%d %s as %d",
			 a->verb == CREAT  ? "creat"
			 : a->verb == EDIT ? "edit"
					   : "append",
			 'A' + a->step, a->process, ev.name, a->ofd);
	else if (ev.kind == LEAT_EV_CLOSE || ev.kind == LEAT_EV_EXTENT || ev.kind == LEAT_EV_WRITE)
		snprintf(out, size, "%s%s %d (%d)", ev.flags ? "abort-" : "",
			 leat_event_kind_name(ev.kind), a->ofd, (int)ev.length);
	else if (ev.kind == LEAT_EV_PROC_EXIT || ev.kind == LEAT_EV_STEP_END)
		snprintf(out, size, "%s %c%d status %d", leat_event_kind_name(ev.kind),
			 'A' + a->step, a->process, ev.status);
	else if (ev.to || ev.kind == LEAT_EV_UNLINK)
		snprintf(out, size, "%s %c %s %s", leat_event_kind_name(ev.kind), 'A' + a->step,
			 ev.name, ev.to ? ev.to : "");
}
