#include "stream_trace.h"

#include <string.h>

static const struct object *shown(const struct view *v, int name)
{
	return v->name[name] == NONE ? NULL : &v->objects[v->name[name]];
}

static bool at_rest(const struct view *v, const struct object *obj, const struct plan_name *n)
{
	return obj && !obj->foreign && !trace_open_count(obj) && !trace_is_cut(v, obj) &&
	       (trace_every_counts(n) || !trace_has_pending(v, obj));
}

static bool is_open_by(const struct object *obj, int step)
{
	int n = 0;

	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].step == step)
			n += obj->acts[i].what == OPENED      ? 1
			     : obj->acts[i].what == CLOSED_BY ? -1
							      : 0;
	return n > 0;
}

static bool has_pending_by(const struct view *v, const struct object *obj, int step)
{
	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].what == CLOSED_BY && obj->acts[i].step == step &&
		    trace_fate_of(v, obj, i) == PENDING)
			return true;
	return false;
}

static bool done_with(const struct view *v, const struct object *obj, int step)
{
	if (is_open_by(obj, step) || has_pending_by(v, obj, step))
		return false;
	return trace_step_over(v->o, step) || trace_published_by(obj, step) ||
	       trace_closes_by(v, obj, step, false) > 0;
}

static bool close_rule(const struct view *v, int name)
{
	const struct plan_name *n = &v->o->plan->names[name];
	const struct object *obj = shown(v, name);

	if (!at_rest(v, obj, n))
		return false;
	if (n->count)
		return trace_closes_for(v, obj, n, NONE) >= (int)n->count;
	for (int step = 0; step < v->o->plan->n_steps; step++)
		if (is_in(n->producers, step) && !done_with(v, obj, step))
			return false;
	return true;
}

static int well_ended(const struct oracle *o, unsigned steps)
{
	int n = 0;

	for (int step = 0; step < o->plan->n_steps; step++)
		if (is_in(steps, step))
			n += trace_count(o, END, step);
	return n;
}

static int may_end_well(const struct oracle *o, unsigned steps)
{
	int n = 0;

	for (int step = 0; step < o->plan->n_steps; step++) {
		int to_come = trace_instances(o, step) - trace_started(o, step);

		if (!is_in(steps, step))
			continue;
		n += trace_started(o, step) - trace_count(o, FAIL, step);
		n += to_come > 0 && !trace_count(o, CLOSED, step) ? to_come : 0;
	}
	return n;
}

static int files_in(const struct view *v, const struct oracle *o, bool committed)
{
	int n = 0;

	for (int i = 0; i < o->plan->n_names; i++) {
		const struct object *obj = shown(v, i);

		if (o->plan->names[i].is_dir || strncmp(o->plan->names[i].text, "d/", 2) != 0 ||
		    !obj)
			continue;
		n += committed ? o->state[i] == LEAT_FILE_COMMITTED
			       : trace_open_count(obj) > 0 && o->state[i] < LEAT_FILE_COMMITTED;
	}
	return n;
}

static bool rule_met(const struct view *v, const struct oracle *o, int name)
{
	const struct plan_name *n = &o->plan->names[name];
	const struct object *obj = shown(v, name);

	if (n->is_dir)
		return files_in(v, o, true) >= (int)n->count;
	switch (n->commit) {
	case LEAT_COMMIT_ON_TERMINATION:
		return n->count && obj && !obj->foreign && !trace_open_count(obj) &&
		       well_ended(o, n->producers) >= (int)n->count;
	case LEAT_COMMIT_ON_FILE:
		return at_rest(v, obj, n) && o->state[n->dep] == LEAT_FILE_COMMITTED;
	case LEAT_COMMIT_ON_CLOSE:
	case LEAT_COMMIT_N_FILES:
		break;
	}
	return close_rule(v, name);
}

static bool all_over(const struct oracle *o, unsigned steps)
{
	for (int step = 0; step < o->plan->n_steps; step++)
		if (is_in(steps, step) && !trace_step_over(o, step))
			return false;
	return true;
}

static bool failed(const struct oracle *o, const struct plan_name *n)
{
	if (n->commit == LEAT_COMMIT_ON_TERMINATION && n->count)
		return may_end_well(o, n->producers) < (int)n->count;
	for (int step = 0; step < o->plan->n_steps; step++)
		if (is_in(n->producers, step) && trace_step_failed(o, step))
			return true;
	return false;
}

static enum leat_file_state evaluate(const struct view *v, const struct oracle *o, int name)
{
	const struct plan_name *n = &o->plan->names[name];
	const struct object *obj = shown(v, name);

	if (o->state[name] >= LEAT_FILE_COMMITTED)
		return o->state[name];
	if (failed(o, n) || (obj && trace_is_lost(v, obj)))
		return LEAT_FILE_FAILED;
	if (rule_met(v, o, name))
		return LEAT_FILE_COMMITTED;
	if (all_over(o, n->producers) && !(obj && trace_open_count(obj)) &&
	    !(n->is_dir && files_in(v, o, false)))
		return obj ? LEAT_FILE_COMMITTED : LEAT_FILE_GONE;
	return obj && !obj->foreign ? LEAT_FILE_PRODUCED : LEAT_FILE_ABSENT;
}

/* A name that lost its file is absent again, unless that is told already. */
static void forget(struct oracle *o, int name)
{
	const struct plan_name *n = &o->plan->names[name];
	enum leat_file_state state = o->state[name];

	if (state == LEAT_FILE_PRODUCED ||
	    (state == LEAT_FILE_COMMITTED && !o->seen[name] && !all_over(o, n->producers))) {
		o->state[name] = LEAT_FILE_ABSENT;
		o->seen[name] = false;
	}
}

static void update(struct oracle *o)
{
	static struct view v;
	bool changed = true;

	trace_look(&v, o);
	while (changed) {
		changed = false;
		for (int i = 0; i < o->plan->n_names; i++) {
			enum leat_file_state state;

			if (!o->plan->names[i].producers)
				continue;
			state = evaluate(&v, o, i);
			changed = changed || state != o->state[i];
			o->state[i] = state;
		}
	}
}

/* A directory that has lost a file that completed it is not complete any more, if nobody has gone
 * by it. */
static void recount(struct oracle *o, const struct action *a)
{
	static struct view v;

	trace_look(&v, o);
	for (int i = 0; i < o->plan->n_names; i++) {
		const struct plan_name *n = &o->plan->names[i];

		if (n->is_dir && o->state[i] == LEAT_FILE_COMMITTED && !o->seen[i] &&
		    is_in(n->producers, a->step) && !all_over(o, n->producers) &&
		    strncmp(o->plan->names[a->name].text, "d/", 2) == 0 &&
		    files_in(&v, o, true) < (int)n->count)
			o->state[i] = LEAT_FILE_PRODUCED;
	}
}

void oracle_init(struct oracle *o, const struct plan *plan)
{
	*o = (struct oracle){.plan = plan};
	update(o);
}

void oracle_push(struct oracle *o, const struct action *a)
{
	static struct view before;

	trace_look(&before, o);
	o->trace[o->n++] = *a;
	if (a->verb != UNLINK && (a->verb != MOVE || before.name[a->name] == before.name[a->to])) {
		update(o);
		return;
	}
	forget(o, a->name);
	update(o);
	recount(o, a);
	update(o);
}

/* ---- answers ---- */

static int name_index(const struct plan *plan, const char *text)
{
	for (int i = 0; i < plan->n_names; i++)
		if (!strcmp(plan->names[i].text, text))
			return i;
	return NONE;
}

/* For a step that is a producer itself: all others are done. */
static bool others_done(const struct view *v, const struct oracle *o, int name, int step)
{
	const struct plan_name *n = &o->plan->names[name];
	const struct object *obj = shown(v, name);
	unsigned others = n->producers & ~(1u << step);
	bool done = obj && !trace_is_cut(v, obj) && n->commit == LEAT_COMMIT_ON_CLOSE;

	for (int p = 0; p < o->plan->n_steps; p++) {
		if (!is_in(others, p))
			continue;
		if (obj && is_open_by(obj, p))
			return false;
		if (obj && !n->count)
			done = done && done_with(v, obj, p);
	}
	if (done && n->count)
		done = trace_closes_for(v, obj, n, step) + 1 >= (int)n->count;
	return done || all_over(o, others);
}

static enum leat_answer consumer_answer(const struct view *v, const struct oracle *o,
					const struct question *q, int name)
{
	const struct object *obj = shown(v, name);
	bool streams = o->plan->names[name].no_update && o->state[name] == LEAT_FILE_PRODUCED;
	bool by_name = q->call == LEAT_CALL_OPEN || q->call == LEAT_CALL_LOOK;

	if (o->state[name] == LEAT_FILE_COMMITTED)
		return LEAT_GO;
	if (o->state[name] == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	if (o->state[name] == LEAT_FILE_GONE)
		return by_name && !obj ? LEAT_NOENT : LEAT_GO;
	if (streams && q->call == LEAT_CALL_OPEN && obj->size)
		return LEAT_GO_STREAM;
	if (streams && q->call == LEAT_CALL_READ && obj->extent >= q->length)
		return LEAT_GO_STREAM;
	return LEAT_WAIT;
}

static enum leat_answer name_answer(const struct view *v, const struct oracle *o,
				    const struct question *q, int name)
{
	const struct plan_name *n = &o->plan->names[name];

	if (is_in(n->producers, q->step) && !is_in(n->consumers, q->step))
		return LEAT_GO;
	if (!is_in(n->producers, q->step))
		return consumer_answer(v, o, q, name);
	if (o->state[name] == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	return o->state[name] >= LEAT_FILE_COMMITTED || others_done(v, o, name, q->step)
		       ? LEAT_GO
		       : LEAT_WAIT;
}

/* LIST "" and LAUNCH: all inputs of the step are decided. */
static enum leat_answer inputs_answer(const struct view *v, const struct oracle *o,
				      const struct question *q)
{
	enum leat_answer all = LEAT_GO;

	for (int i = 0; i < o->plan->n_names; i++) {
		const struct plan_name *n = &o->plan->names[i];
		const struct object *obj = shown(v, i);
		struct question one = {.step = q->step, .call = LEAT_CALL_WHOLE};
		enum leat_answer answer;

		if (!is_in(n->consumers, q->step))
			continue;
		answer = name_answer(v, o, &one, i);
		if (q->call == LEAT_CALL_LIST && n->no_update && obj && obj->size &&
		    o->state[i] == LEAT_FILE_PRODUCED)
			answer = LEAT_GO;
		if (answer == LEAT_FAILED)
			return LEAT_FAILED;
		if (answer == LEAT_WAIT)
			all = LEAT_WAIT;
	}
	return all;
}

enum leat_answer oracle_answer(const struct oracle *o, const struct question *q)
{
	static struct view v;
	int name = name_index(o->plan, q->name);

	trace_look(&v, o);
	if (name == NONE)
		return inputs_answer(&v, o, q);
	if (!o->plan->names[name].is_dir || q->call != LEAT_CALL_LIST)
		return name_answer(&v, o, q, name);
	if (o->state[name] == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	return o->state[name] >= LEAT_FILE_COMMITTED ? LEAT_GO : LEAT_WAIT;
}

void oracle_answered(struct oracle *o, const struct question *q, enum leat_answer answer)
{
	int name = name_index(o->plan, q->name);

	if (name != NONE && (q->call != LEAT_CALL_LIST || o->plan->names[name].is_dir) &&
	    !is_in(o->plan->names[name].producers, q->step) &&
	    (answer == LEAT_GO || answer == LEAT_GO_STREAM))
		o->seen[name] = true;
}
