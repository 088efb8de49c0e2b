#include "stream_oracle.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OBJECTS = 16, NONE = -1 };

/* What the trace did to one file, in order. */
struct act {
	enum { OPENED, CLOSED_BY, PUBLISHED } what;
	int at; /* index in the trace */
	int step, process, ofd;
	uint64_t length;
	bool abnormal;
};

struct object {
	struct act acts[MAX_TRACE];
	int n;
	uint64_t extent; /* bytes [0, extent) were written */
	uint64_t size;
	bool foreign;
	bool is_dir;
};

struct view {
	const struct oracle *o;
	struct object objects[MAX_OBJECTS];
	int n_objects;
	int name[MAX_NAMES];      /* object it shows, or NONE */
	int of_ofd[MAX_OFDS + 1]; /* object an open description was opened on; NONE closed */
};

/* ---- steps ---- */

static int count(const struct oracle *o, enum verb verb, int step)
{
	int n = 0;

	for (int i = 0; i < o->n; i++)
		n += o->trace[i].verb == verb && o->trace[i].step == step;
	return n;
}

static int instances(const struct oracle *o, int step)
{
	return step == 0 && o->plan->instances ? o->plan->instances : 1;
}

static int started(const struct oracle *o, int step)
{
	return (o->plan->verbs[step] & START ? 0 : instances(o, step)) + count(o, START, step);
}

static int ended(const struct oracle *o, int step)
{
	return count(o, END, step) + count(o, FAIL, step);
}

static bool step_over(const struct oracle *o, int step)
{
	return started(o, step) == ended(o, step) &&
	       (started(o, step) >= instances(o, step) || count(o, CLOSED, step));
}

static bool step_failed(const struct oracle *o, int step)
{
	return count(o, FAIL, step) > 0;
}

static bool is_in(unsigned set, int step)
{
	return set >> step & 1;
}

/* ---- the files a trace leaves ---- */

static struct object *new_object(struct view *v, int name)
{
	struct object *obj = &v->objects[v->n_objects];

	obj->n = 0;
	obj->extent = obj->size = 0;
	obj->foreign = obj->is_dir = false;
	v->name[name] = v->n_objects++;
	return obj;
}

static int open_count(const struct object *obj)
{
	int n = 0;

	for (int i = 0; i < obj->n; i++)
		n += obj->acts[i].what == OPENED ? 1 : obj->acts[i].what == CLOSED_BY ? -1 : 0;
	return n;
}

static const struct act *find_open(const struct object *obj, int ofd)
{
	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].what == OPENED && obj->acts[i].ofd == ofd)
			return &obj->acts[i];
	return NULL;
}

/* When process {step, process} was gone, or the end of the trace. */
static int process_end(const struct oracle *o, int step, int process, bool *killed)
{
	for (int i = 0; i < o->n; i++) {
		const struct action *a = &o->trace[i];

		if ((a->verb == EXIT || a->verb == KILL) && a->step == step &&
		    a->process == process) {
			*killed = a->verb == KILL;
			return i;
		}
	}
	*killed = false;
	return o->n;
}

/* What became of a close: does it count, does it not (yet, or ever)? */
enum fate { COUNTS, PENDING, NEVER_COUNTS, CUTS };

static enum fate fate_of(const struct view *v, const struct object *obj, int i)
{
	const struct act *close = &obj->acts[i], *open = find_open(obj, close->ofd);
	bool killed;
	int end = process_end(v->o, open->step, open->process, &killed);

	if (close->abnormal)
		return CUTS;
	if (close->length || end < close->at)
		return COUNTS;
	for (int j = i + 1; j < obj->n; j++)
		if (obj->acts[j].at < end &&
		    (obj->acts[j].what == OPENED || obj->acts[j].what == PUBLISHED))
			return NEVER_COUNTS;
	if (end == v->o->n)
		return PENDING;
	return killed ? CUTS : COUNTS;
}

/* Was the end of the last thing that ended here an abnormal one? */
static bool is_cut(const struct view *v, const struct object *obj)
{
	int last = -1;
	bool cut = false;

	for (int i = 0; i < obj->n; i++) {
		const struct act *close = &obj->acts[i], *open;
		int when = close->at;
		bool killed;

		if (close->what != CLOSED_BY)
			continue;
		open = find_open(obj, close->ofd);
		if (when > last) {
			last = when;
			cut = close->abnormal;
		}
		if (!close->abnormal && fate_of(v, obj, i) == CUTS) {
			when = process_end(v->o, open->step, open->process, &killed);
			if (when > last) {
				last = when;
				cut = true;
			}
		}
	}
	return cut;
}

static bool has_pending(const struct view *v, const struct object *obj)
{
	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].what == CLOSED_BY && fate_of(v, obj, i) == PENDING)
			return true;
	return false;
}

static int closes_by(const struct view *v, const struct object *obj, int step, bool every)
{
	int n = 0;

	for (int i = 0; i < obj->n; i++) {
		const struct act *a = &obj->acts[i];

		if (a->what == CLOSED_BY && a->step == step)
			n += every ? !a->abnormal : fate_of(v, obj, i) == COUNTS;
		/* A publication stands for the close that nobody made. */
		if (a->what == PUBLISHED && a->step == step && a->ofd)
			n++;
	}
	return n;
}

static bool published_by(const struct object *obj, int step)
{
	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].what == PUBLISHED && obj->acts[i].step == step)
			return true;
	return false;
}

static bool every_counts(const struct plan_name *n)
{
	return n->commit == LEAT_COMMIT_ON_CLOSE && n->count > 1;
}

static int closes_for(const struct view *v, const struct object *obj, const struct plan_name *n,
		      int except)
{
	int sum = 0;

	for (int step = 0; step < v->o->plan->n_steps; step++)
		if (is_in(n->producers, step) && step != except)
			sum += closes_by(v, obj, step, every_counts(n));
	return sum;
}

/* A finished file is given to name `to` by `step`. */
static void publish(struct view *v, int to, int step)
{
	const struct plan_name *n = &v->o->plan->names[to];
	struct object *obj = &v->objects[v->name[to]];

	obj->foreign = n->producers && !is_in(n->producers, step);
	if (!is_in(n->producers, step) || open_count(obj) || is_cut(v, obj))
		return;
	obj->acts[obj->n] = (struct act){.what = PUBLISHED,
					 .at = v->o->n - 1,
					 .step = step,
					 .ofd = closes_for(v, obj, n, NONE) == 0};
	obj->n++;
}

static void look_open(struct view *v, const struct action *a, int at)
{
	const struct plan_name *n = &v->o->plan->names[a->name];
	struct object *obj;

	if (v->name[a->name] == NONE) {
		obj = new_object(v, a->name);
		obj->foreign = n->producers != 0;
	}
	obj = &v->objects[v->name[a->name]];
	if (is_in(n->producers, a->step))
		obj->foreign = false;
	obj->acts[obj->n++] = (struct act){
		.what = OPENED, .at = at, .step = a->step, .process = a->process, .ofd = a->ofd};
	v->of_ofd[a->ofd] = v->name[a->name];
	if (a->verb == CREAT)
		obj->extent = obj->size = 0;
}

static void look_close(struct view *v, const struct action *a, int at)
{
	struct object *obj = &v->objects[v->of_ofd[a->ofd]];
	uint64_t length = a->verb == CLOSE ? 5 : 0;

	obj->acts[obj->n++] = (struct act){.what = CLOSED_BY,
					   .at = at,
					   .step = a->step,
					   .ofd = a->ofd,
					   .length = length,
					   .abnormal = a->verb == ABORT};
	if (length > obj->size)
		obj->size = length;
	v->of_ofd[a->ofd] = NONE;
}

static void look_at(struct view *v, const struct action *a, int at)
{
	switch (a->verb) {
	case CREAT:
	case APPEND:
		look_open(v, a, at);
		break;
	case CLOSE:
	case EMPTY:
	case ABORT:
		look_close(v, a, at);
		break;
	case EXTENT:
		v->objects[v->of_ofd[a->ofd]].extent = 5;
		if (v->objects[v->of_ofd[a->ofd]].size < 5)
			v->objects[v->of_ofd[a->ofd]].size = 5;
		break;
	case MOVE:
		if (v->name[a->name] == v->name[a->to])
			break;
		v->name[a->to] = v->name[a->name];
		v->name[a->name] = NONE;
		publish(v, a->to, a->step);
		break;
	case LINK:
		v->name[a->to] = v->name[a->name];
		publish(v, a->to, a->step);
		break;
	case UNLINK:
		v->name[a->name] = NONE;
		break;
	default:
		break;
	}
}

/* Directories are there from the start. */
static void look_dirs(struct view *v)
{
	for (int i = 0; i < v->o->plan->n_names; i++) {
		if (!v->o->plan->names[i].is_dir)
			continue;
		new_object(v, i)->is_dir = true;
	}
}

/* What `publish` sees of the trace must end where it happened. */
static void look(struct view *v, const struct oracle *o)
{
	static struct oracle prefix;

	prefix.plan = o->plan;
	memcpy(prefix.trace, o->trace, (size_t)o->n * sizeof(o->trace[0]));
	prefix.n = o->n;
	v->o = &prefix;
	v->n_objects = 0;
	for (int i = 0; i < MAX_NAMES; i++)
		v->name[i] = NONE;
	for (int i = 0; i <= MAX_OFDS; i++)
		v->of_ofd[i] = NONE;
	look_dirs(v);
	for (int i = 0; i < o->n; i++) {
		prefix.n = i + 1;
		look_at(v, &o->trace[i], i);
	}
}

/* ---- rules ---- */

static const struct object *shown(const struct view *v, int name)
{
	return v->name[name] == NONE ? NULL : &v->objects[v->name[name]];
}

static bool at_rest(const struct view *v, const struct object *obj, const struct plan_name *n)
{
	return obj && !obj->foreign && !open_count(obj) && !is_cut(v, obj) &&
	       (every_counts(n) || !has_pending(v, obj));
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
		    fate_of(v, obj, i) == PENDING)
			return true;
	return false;
}

static bool done_with(const struct view *v, const struct object *obj, int step)
{
	if (is_open_by(obj, step) || has_pending_by(v, obj, step))
		return false;
	return step_over(v->o, step) || published_by(obj, step) ||
	       closes_by(v, obj, step, false) > 0;
}

static bool close_rule(const struct view *v, int name)
{
	const struct plan_name *n = &v->o->plan->names[name];
	const struct object *obj = shown(v, name);

	if (!at_rest(v, obj, n))
		return false;
	if (n->count)
		return closes_for(v, obj, n, NONE) >= (int)n->count;
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
			n += count(o, END, step);
	return n;
}

static int may_end_well(const struct oracle *o, unsigned steps)
{
	int n = 0;

	for (int step = 0; step < o->plan->n_steps; step++) {
		int to_come = instances(o, step) - started(o, step);

		if (!is_in(steps, step))
			continue;
		n += started(o, step) - count(o, FAIL, step);
		n += to_come > 0 && !count(o, CLOSED, step) ? to_come : 0;
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
			       : open_count(obj) > 0 && o->state[i] < LEAT_FILE_COMMITTED;
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
		return n->count && obj && !obj->foreign && !open_count(obj) &&
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
		if (is_in(steps, step) && !step_over(o, step))
			return false;
	return true;
}

static bool failed(const struct oracle *o, const struct plan_name *n)
{
	if (n->commit == LEAT_COMMIT_ON_TERMINATION && n->count)
		return may_end_well(o, n->producers) < (int)n->count;
	for (int step = 0; step < o->plan->n_steps; step++)
		if (is_in(n->producers, step) && step_failed(o, step))
			return true;
	return false;
}

static enum leat_file_state evaluate(const struct view *v, const struct oracle *o, int name)
{
	const struct plan_name *n = &o->plan->names[name];
	const struct object *obj = shown(v, name);

	if (o->state[name] >= LEAT_FILE_COMMITTED)
		return o->state[name];
	if (failed(o, n))
		return LEAT_FILE_FAILED;
	if (rule_met(v, o, name))
		return LEAT_FILE_COMMITTED;
	if (all_over(o, n->producers) && !(obj && open_count(obj)) &&
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

	look(&v, o);
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

void oracle_init(struct oracle *o, const struct plan *plan)
{
	*o = (struct oracle){.plan = plan};
	update(o);
}

void oracle_push(struct oracle *o, const struct action *a)
{
	static struct view before;

	look(&before, o);
	o->trace[o->n++] = *a;
	if (a->verb == UNLINK || (a->verb == MOVE && before.name[a->name] != before.name[a->to]))
		forget(o, a->name);
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
	bool done = obj && !is_cut(v, obj) && n->commit == LEAT_COMMIT_ON_CLOSE;

	for (int p = 0; p < o->plan->n_steps; p++) {
		if (!is_in(others, p))
			continue;
		if (obj && is_open_by(obj, p))
			return false;
		if (obj && !n->count)
			done = done && done_with(v, obj, p);
	}
	if (done && n->count)
		done = closes_for(v, obj, n, step) + 1 >= (int)n->count;
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

	look(&v, o);
	if (name == NONE)
		return inputs_answer(&v, o, q);
	if (!o->plan->names[name].is_dir || q->call != LEAT_CALL_LIST)
		return name_answer(&v, o, q, name);
	if (o->state[name] == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	return o->state[name] >= LEAT_FILE_COMMITTED ? LEAT_GO : LEAT_WAIT;
}

void oracle_told(struct oracle *o, const struct question *q, enum leat_answer answer)
{
	int name = name_index(o->plan, q->name);

	if (name != NONE && q->call != LEAT_CALL_LIST &&
	    !is_in(o->plan->names[name].producers, q->step) &&
	    (answer == LEAT_GO || answer == LEAT_GO_STREAM))
		o->seen[name] = true;
}

/* ---- actions ---- */

static bool process_gone(const struct oracle *o, int step, int process)
{
	bool killed;

	return process_end(o, step, process, &killed) < o->n;
}

static int opens(const struct oracle *o)
{
	int n = 0;

	for (int i = 0; i < o->n; i++)
		n += o->trace[i].verb == CREAT || o->trace[i].verb == APPEND;
	return n;
}

struct menu {
	const struct oracle *o;
	const struct view *v;
	struct action *out;
	int n, room;
};

static void offer(struct menu *m, struct action a)
{
	if (m->o->plan->verbs[a.step] & a.verb && m->n < m->room)
		m->out[m->n++] = a;
}

static void offer_steps(struct menu *m, int step)
{
	const struct oracle *o = m->o;

	if (started(o, step) > ended(o, step)) {
		offer(m, (struct action){.verb = END, .step = step});
		offer(m, (struct action){.verb = FAIL, .step = step});
	}
	if (started(o, step) < instances(o, step))
		offer(m, (struct action){.verb = START, .step = step});
	if (!count(o, CLOSED, step))
		offer(m, (struct action){.verb = CLOSED, .step = step});
}

static bool process_used(const struct oracle *o, int step, int process)
{
	for (int i = 0; i < o->n; i++)
		if ((o->trace[i].verb == CREAT || o->trace[i].verb == APPEND) &&
		    o->trace[i].step == step && o->trace[i].process == process)
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
			a.verb = APPEND;
			if (m->v->name[a.name] != NONE)
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

		if ((o->trace[i].verb != CREAT && o->trace[i].verb != APPEND) ||
		    o->trace[i].step != step || m->v->of_ofd[a.ofd] == NONE)
			continue;
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

int oracle_enabled(const struct oracle *o, struct action *out, int room)
{
	static struct view v;
	struct menu m = {.o = o, .v = &v, .out = out, .room = room};

	look(&v, o);
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

	look(&v, o);
	for (int i = 0; i < o->n; i++) {
		const struct action *a = &o->trace[i];

		if ((a->verb == CREAT || a->verb == APPEND) && v.of_ofd[a->ofd] != NONE) {
			*out = (struct action){.verb = CLOSE, .step = a->step, .ofd = a->ofd};
			return true;
		}
	}
	for (int step = 0; step < o->plan->n_steps; step++) {
		if (step_over(o, step))
			continue;
		*out = (struct action){.step = step,
				       .verb = started(o, step) > ended(o, step) ? END : START};
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
		ev->kind = LEAT_EV_OPEN;
		ev->ofd = (uint64_t)a->ofd;
		ev->flags = a->verb == CREAT ? LEAT_EVF_CREAT | LEAT_EVF_TRUNC : 0;
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
		snprintf(out, size, "%s %c%d %s as %d", a->verb == CREAT ? "creat" : "append",
			 'A' + a->step, a->process, ev.name, a->ofd);
	else if (ev.kind == LEAT_EV_CLOSE || ev.kind == LEAT_EV_EXTENT)
		snprintf(out, size, "%s%s %d (%d)", ev.flags ? "abort-" : "",
			 leat_event_kind_name(ev.kind), a->ofd, (int)ev.length);
	else if (ev.kind == LEAT_EV_PROC_EXIT || ev.kind == LEAT_EV_STEP_END)
		snprintf(out, size, "%s %c%d status %d", leat_event_kind_name(ev.kind),
			 'A' + a->step, a->process, ev.status);
	else if (ev.to || ev.kind == LEAT_EV_UNLINK)
		snprintf(out, size, "%s %c %s %s", leat_event_kind_name(ev.kind), 'A' + a->step,
			 ev.name, ev.to ? ev.to : "");
}
