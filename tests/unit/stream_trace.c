#include "stream_trace.h"

#include <stdio.h>
#include <string.h>

/* ---- steps ---- */

int trace_count(const struct oracle *o, enum verb verb, int step)
{
	int n = 0;

	for (int i = 0; i < o->n; i++)
		n += o->trace[i].verb == verb && o->trace[i].step == step;
	return n;
}

int trace_instances(const struct oracle *o, int step)
{
	return step == 0 && o->plan->instances ? o->plan->instances : 1;
}

int trace_started(const struct oracle *o, int step)
{
	return (o->plan->verbs[step] & START ? 0 : trace_instances(o, step)) +
	       trace_count(o, START, step);
}

int trace_ended(const struct oracle *o, int step)
{
	return trace_count(o, END, step) + trace_count(o, FAIL, step);
}

bool trace_step_over(const struct oracle *o, int step)
{
	return trace_started(o, step) == trace_ended(o, step) &&
	       (trace_started(o, step) >= trace_instances(o, step) || trace_count(o, CLOSED, step));
}

bool trace_step_failed(const struct oracle *o, int step)
{
	return trace_count(o, FAIL, step) > 0;
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

bool trace_is_intact(const struct oracle *o, int ofd)
{
	bool intact = false;

	for (int i = 0; i < o->n; i++)
		if (o->trace[i].ofd == ofd)
			intact = o->trace[i].verb == EDIT || (intact && o->trace[i].verb != WRITE);
	return intact;
}

int trace_open_count(const struct object *obj)
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
int trace_process_end(const struct oracle *o, int step, int process, bool *killed)
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

enum fate trace_fate_of(const struct view *v, const struct object *obj, int i)
{
	const struct act *close = &obj->acts[i], *open = find_open(obj, close->ofd);
	bool killed;
	int end = trace_process_end(v->o, open->step, open->process, &killed);

	if (close->none)
		return NEVER_COUNTS;
	if (close->abnormal)
		return CUTS;
	if (close->length)
		return COUNTS;
	/* Its end may be heard of first. */
	if (end < close->at)
		return killed ? CUTS : COUNTS;
	for (int j = i + 1; j < obj->n; j++)
		if (obj->acts[j].at < end &&
		    (obj->acts[j].what == OPENED || obj->acts[j].what == PUBLISHED))
			return NEVER_COUNTS;
	if (end == v->o->n)
		return PENDING;
	return killed ? CUTS : COUNTS;
}

/* Was the end of the last thing that ended here an abnormal one? */
bool trace_is_cut(const struct view *v, const struct object *obj)
{
	int last = -1;
	bool cut = false;

	for (int i = 0; i < obj->n; i++) {
		const struct act *close = &obj->acts[i], *open;
		int when = close->at;
		bool killed;

		if (close->what != CLOSED_BY || close->none)
			continue;
		open = find_open(obj, close->ofd);
		if (when > last) {
			last = when;
			cut = close->abnormal;
		}
		if (!close->abnormal && trace_fate_of(v, obj, i) == CUTS) {
			when = trace_process_end(v->o, open->step, open->process, &killed);
			if (when > last || when < close->at) {
				last = when > last ? when : last;
				cut = true;
			}
		}
	}
	return cut;
}

bool trace_is_lost(const struct view *v, const struct object *obj)
{
	static struct oracle then;
	bool lost = false;

	for (int i = 0; i < obj->n; i++) {
		const struct act *a = &obj->acts[i];

		if (a->what == OPENED && v->o->trace[a->at].verb == CREAT)
			lost = false;
		if (a->what != CLOSED_BY || !a->abnormal || a->none)
			continue;
		then = *v->o;
		then.n = a->at;
		lost = lost || trace_step_over(&then, a->step);
	}
	return lost;
}

bool trace_has_pending(const struct view *v, const struct object *obj)
{
	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].what == CLOSED_BY && trace_fate_of(v, obj, i) == PENDING)
			return true;
	return false;
}

int trace_closes_by(const struct view *v, const struct object *obj, int step, bool every)
{
	int n = 0;

	for (int i = 0; i < obj->n; i++) {
		const struct act *a = &obj->acts[i];

		if (a->what == CLOSED_BY && a->step == step)
			n += every ? !a->abnormal && !a->intact
				   : trace_fate_of(v, obj, i) == COUNTS;
		/* A publication stands for the close that nobody made. */
		if (a->what == PUBLISHED && a->step == step && a->ofd)
			n++;
	}
	return n;
}

bool trace_published_by(const struct object *obj, int step)
{
	for (int i = 0; i < obj->n; i++)
		if (obj->acts[i].what == PUBLISHED && obj->acts[i].step == step)
			return true;
	return false;
}

bool trace_every_counts(const struct plan_name *n)
{
	return n->commit == LEAT_COMMIT_ON_CLOSE && n->count > 1;
}

int trace_closes_for(const struct view *v, const struct object *obj, const struct plan_name *n,
		     int except)
{
	int sum = 0;

	for (int step = 0; step < v->o->plan->n_steps; step++)
		if (is_in(n->producers, step) && step != except)
			sum += trace_closes_by(v, obj, step, trace_every_counts(n));
	return sum;
}

/* A finished file is given to name `to` by `step`. */
static void publish(struct view *v, int to, int step)
{
	const struct plan_name *n = &v->o->plan->names[to];
	struct object *obj = &v->objects[v->name[to]];

	obj->foreign = n->producers && !is_in(n->producers, step);
	if (!is_in(n->producers, step) || trace_open_count(obj) || trace_is_cut(v, obj))
		return;
	obj->acts[obj->n] = (struct act){.what = PUBLISHED,
					 .at = v->o->n - 1,
					 .step = step,
					 .ofd = trace_closes_for(v, obj, n, NONE) == 0};
	obj->n++;
}

static void look_open(struct view *v, const struct action *a, int at)
{
	const struct plan_name *n = &v->o->plan->names[a->name];
	struct object *obj;
	bool undid;

	if (v->name[a->name] == NONE) {
		obj = new_object(v, a->name);
		obj->foreign = n->producers != 0;
	}
	obj = &v->objects[v->name[a->name]];
	if (is_in(n->producers, a->step) && a->verb != EDIT)
		obj->foreign = false;
	undid = trace_has_pending(v, obj);
	obj->acts[obj->n++] = (struct act){.what = OPENED,
					   .at = at,
					   .step = a->step,
					   .process = a->process,
					   .ofd = a->ofd,
					   .undid = undid};
	v->of_ofd[a->ofd] = v->name[a->name];
	if (a->verb == CREAT)
		obj->extent = obj->size = 0;
}

static void look_close(struct view *v, const struct action *a, int at)
{
	struct object *obj = &v->objects[v->of_ofd[a->ofd]];
	uint64_t length = a->verb == CLOSE ? 5 : 0;
	bool intact = trace_is_intact(v->o, a->ofd);
	bool redoes = find_open(obj, a->ofd)->undid && !length && !obj->foreign &&
		      trace_open_count(obj) == 1;

	obj->acts[obj->n++] = (struct act){.what = CLOSED_BY,
					   .at = at,
					   .step = a->step,
					   .ofd = a->ofd,
					   .length = length,
					   .abnormal = a->verb == ABORT,
					   .intact = intact,
					   .none = intact && !redoes};
	if (length > obj->size)
		obj->size = length;
	v->of_ofd[a->ofd] = NONE;
}

static void look_write(struct view *v, const struct action *a)
{
	for (int i = 0; i < v->o->plan->n_names; i++)
		if (v->name[i] != NONE && v->name[i] == v->of_ofd[a->ofd] &&
		    is_in(v->o->plan->names[i].producers, a->step))
			v->objects[v->name[i]].foreign = false;
}

static void look_at(struct view *v, const struct action *a, int at)
{
	switch (a->verb) {
	case CREAT:
	case APPEND:
	case EDIT:
		look_open(v, a, at);
		break;
	case CLOSE:
	case EMPTY:
	case ABORT:
		look_close(v, a, at);
		break;
	case WRITE:
		look_write(v, a);
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
void trace_look(struct view *v, const struct oracle *o)
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
