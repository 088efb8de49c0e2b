/* Tasks of several instances become so many steps, each with a directory and names of its own. */
#include "lang/yaml/task.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"
#include "model/pairing.h"
#include "model/view.h"

struct expansion {
	struct leat_front *front;
	const struct leat_lang_tasks *tasks;
	const struct leat_workflow *from; /* borrowed; a step for each task */
	struct leat_workflow *to;         /* owned; a step for each instance */
	size_t *first;                    /* owned; of the steps of each task */
	struct leat_lookup *names;        /* owned; the new steps by name */
};

/* One instance of task `t` being made. */
struct instance {
	const struct expansion *x;
	size_t t;
	unsigned number;
	const struct leat_step *task;
	struct leat_step *step;
};

/* Directory of an instance, which is its name, or NULL. */
static const char *dir_of(const struct expansion *x, size_t t, unsigned number)
{
	return x->to->steps[x->first[t] + number].dir;
}

/* --- Commands ------------------------------------------------------------------------------ */

/* `word` with the number of the instance for each "{instance}". NULL when out of memory. */
static char *fill_word(const char *word, unsigned number)
{
	static const char hole[] = "{instance}";
	char *text = strdup(word);

	for (char *at = text; at && (at = strstr(at, hole));) {
		size_t before = (size_t)(at - text);
		char *filled =
			leat_strf("%.*s%u%s", (int)before, text, number, at + sizeof(hole) - 1);

		free(text);
		text = filled;
		at = text ? text + before : NULL;
	}
	return text;
}

static int copy_command(const struct instance *in)
{
	size_t n = 0;

	if (!in->task->argv)
		return 0;
	while (in->task->argv[n])
		n++;
	in->step->argv = calloc(n + 1, sizeof(char *));
	if (!in->step->argv)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		in->step->argv[i] = fill_word(in->task->argv[i], in->number);
		if (!in->step->argv[i])
			return -ENOMEM;
	}
	return 0;
}

/* --- What it writes --------------------------------------------------------------------------- */

/* Append `name`, below `dir` if that is not NULL. */
static int add_below(struct leat_names *names, const char *dir, const char *text,
		     struct leat_pos pos)
{
	char *path = leat_path_join(dir, text);
	int ret = path ? leat_names_add(names, path, pos) : -ENOMEM;

	free(path);
	return ret;
}

static bool writes(const struct leat_step *step, const char *text)
{
	for (size_t i = 0; i < step->outputs.n; i++)
		if (leat_ports_meet(step->outputs.v[i].text, false, text, false))
			return true;
	return false;
}

/* What a file waits for is beside it, unless only a task without instances makes it. */
static const char *dir_of_dep(const struct instance *in, const char *text)
{
	if (!in->step->dir || writes(in->task, text))
		return in->step->dir;
	for (size_t u = 0; u < in->x->tasks->n; u++)
		if (in->x->tasks->v[u].count == 1 && writes(&in->x->from->steps[u], text))
			return NULL;
	return in->step->dir;
}

/* The rule, for that name. Its dependencies are the caller's. */
static struct leat_rule *add_rule(const struct instance *in, const struct leat_rule *from,
				  const char *dir, const char *text)
{
	char *name = leat_path_join(dir, text);
	struct leat_rule *rule = name ? leat_step_add_rule(in->step, name, from->name.pos) : NULL;

	free(name);
	if (rule)
		leat_rule_copy(rule, from);
	return rule;
}

/* A rule for what the task reads: for the file of each instance that makes it for this one. */
static int copy_rule_of_link(const struct instance *in, const struct leat_rule *from,
			     const struct leat_lang_link *link)
{
	struct leat_instances linked = leat_pairing(in->x->tasks->v[link->task].count,
						    in->x->tasks->v[in->t].count, in->number);
	int ret = 0;

	for (unsigned k = linked.first; !ret && k < linked.first + linked.n; k++) {
		const char *dir = dir_of(in->x, link->task, k);
		struct leat_rule *rule = add_rule(in, from, dir, link->text);

		ret = rule ? 0 : -ENOMEM;
		for (size_t i = 0; !ret && i < from->deps.n; i++)
			ret = add_below(&rule->deps, dir, from->deps.v[i].text,
					from->deps.v[i].pos);
	}
	return ret;
}

/* The links of the inport of that name, or NULL. */
static const struct leat_port *linked_port(const struct instance *in, const char *text)
{
	for (size_t i = 0; i < in->task->inputs.n; i++)
		if (!strcmp(in->task->inputs.v[i].text, text) &&
		    in->x->tasks->v[in->t].in.v[i].n_links)
			return &in->x->tasks->v[in->t].in.v[i];
	return NULL;
}

static int copy_rule(const struct instance *in, const struct leat_rule *from)
{
	const struct leat_port *port =
		writes(in->task, from->name.text) ? NULL : linked_port(in, from->name.text);
	struct leat_rule *rule;
	int ret = 0;

	for (size_t l = 0; port && !ret && l < port->n_links; l++)
		ret = copy_rule_of_link(in, from, &port->links[l]);
	if (port)
		return ret;
	rule = add_rule(in, from, in->step->dir, from->name.text);
	ret = rule ? 0 : -ENOMEM;
	for (size_t i = 0; !ret && i < from->deps.n; i++)
		ret = add_below(&rule->deps, dir_of_dep(in, from->deps.v[i].text),
				from->deps.v[i].text, from->deps.v[i].pos);
	return ret;
}

static int copy_outputs(const struct instance *in)
{
	const struct leat_step *task = in->task;
	int ret = 0;

	for (size_t i = 0; !ret && i < task->outputs.n; i++)
		ret = add_below(&in->step->outputs, in->step->dir, task->outputs.v[i].text,
				task->outputs.v[i].pos);
	for (size_t i = 0; !ret && i < task->private.n; i++)
		ret = add_below(&in->step->private, in->step->dir, task->private.v[i].text,
				task->private.v[i].pos);
	for (size_t i = 0; !ret && i < task->n_rules; i++)
		ret = copy_rule(in, &task->rules[i]);
	return ret;
}

/* --- What it reads ---------------------------------------------------------------------------- */

/* An inport that shows `text`, a name as the task has it. */
static struct leat_inport *add_inport(const struct instance *in, const char *text,
				      struct leat_pos pos)
{
	char *seen = leat_path_join(in->step->dir, text);
	struct leat_inport *inport = seen ? leat_step_add_inport(in->step, seen, pos) : NULL;

	free(seen);
	return inport;
}

/* Let the inport show what the instances of one task make that are linked to this one. */
static int add_sources(const struct instance *in, struct leat_inport *inport,
		       const struct leat_lang_link *link, struct leat_pos pos)
{
	const struct expansion *x = in->x;
	struct leat_instances linked =
		leat_pairing(x->tasks->v[link->task].count, x->tasks->v[in->t].count, in->number);
	int ret = 0;

	for (unsigned k = linked.first; !ret && k < linked.first + linked.n; k++) {
		char *made = leat_path_join(dir_of(x, link->task, k), link->text);

		if (!made)
			return -ENOMEM;
		ret = leat_names_add(&in->step->inputs, made, pos);
		if (!ret)
			ret = leat_inport_add_source(inport, (int)(x->first[link->task] + k), made);
		free(made);
	}
	return ret;
}

/* Links that are files of their own, each under its name. */
static int copy_apart(const struct instance *in, const struct leat_port *port, struct leat_pos pos)
{
	int ret = 0;

	for (size_t l = 0; !ret && l < port->n_links; l++) {
		struct leat_inport *inport = add_inport(in, port->links[l].text, pos);

		ret = inport ? add_sources(in, inport, &port->links[l], pos) : -ENOMEM;
	}
	return ret;
}

static int copy_input(const struct instance *in, size_t i)
{
	const struct leat_name *input = &in->task->inputs.v[i];
	const struct leat_port *port = &in->x->tasks->v[in->t].in.v[i];
	struct leat_inport *inport;
	int ret = 0;

	if (!leat_is_inport(in->x->tasks, in->t, i))
		return add_below(&in->step->inputs, port->own ? in->step->dir : NULL, input->text,
				 input->pos);
	if (port->apart)
		return copy_apart(in, port, input->pos);
	inport = add_inport(in, input->text, input->pos);
	if (!inport)
		return -ENOMEM;
	inport->flow = port->flow;
	inport->every = port->every;
	if (!port->n_links)
		return leat_names_add(&in->step->inputs, input->text, input->pos);
	for (size_t l = 0; !ret && l < port->n_links; l++)
		ret = add_sources(in, inport, &port->links[l], input->pos);
	return ret;
}

static int copy_dsets(const struct instance *in)
{
	for (size_t i = 0; i < in->task->n_dsets; i++) {
		const struct leat_dset *from = &in->task->dsets[i];
		struct leat_dset *dset =
			leat_step_add_dset(in->step, &from->port, from->name.text, from->name.pos);

		if (!dset)
			return -ENOMEM;
		dset->in = from->in;
		dset->file = from->file;
		dset->memory = from->memory;
	}
	return 0;
}

/* When the directories of all instances are known. */
static int fill_step(const struct instance *in)
{
	int ret = copy_command(in);

	if (!ret)
		ret = copy_outputs(in);
	for (size_t i = 0; !ret && i < in->task->inputs.n; i++)
		ret = copy_input(in, i);
	return ret ? ret : copy_dsets(in);
}

/* --- Names ------------------------------------------------------------- */

/* A name that can be a directory's, and a part of patterns. */
static void check_name(struct leat_front *front, const struct leat_step *task)
{
	const char *name = task->name;

	if (strchr(name, '/') || leat_pattern_is_wild(name) || strlen(name) + 6 > NAME_MAX)
		leat_lang_report(
			front->diags, L_ENSEMBLE_NAME, task->pos,
			"\"%s\" names the directories of its instances (\"%s.0\" ...), so that it "
			"must be short and have no \"/\" and no wildcards; give the program by "
			"\"exec\"",
			name, name);
}

static int copy_texts(struct leat_step *step, const struct leat_step *task)
{
	step->container = task->container ? strdup(task->container) : NULL;
	if (task->container && !step->container)
		return -ENOMEM;
	if (task->action_file) {
		step->action_file = strdup(task->action_file);
		step->action_function = strdup(task->action_function);
		if (!step->action_file || !step->action_function)
			return -ENOMEM;
	}
	free(step->task);
	step->task = strdup(task->name);
	return step->task ? 0 : -ENOMEM;
}

/* Add the step of one instance: all of it that depends on no other. 0, -EEXIST, -ENOMEM. */
static int add_step(struct expansion *x, size_t t, unsigned number)
{
	const struct leat_step *task = &x->from->steps[t];
	bool many = x->tasks->v[t].count > 1;
	char *name = many ? leat_strf("%s.%u", task->name, number) : strdup(task->name);
	struct leat_step *step = name ? leat_workflow_add_step(x->to, name, task->pos) : NULL;

	if (!step) {
		free(name);
		return -ENOMEM;
	}
	step->instance = number;
	step->ensemble = x->tasks->v[t].count;
	step->nprocs = task->nprocs;
	step->nwriters = task->nwriters;
	step->action_pos = task->action_pos;
	step->relaunch = task->relaunch;
	step->engine = task->engine;
	step->container_pos = task->container_pos;
	step->engine_pos = task->engine_pos;
	step->staged = task->staged;
	step->concurrent = task->concurrent;
	if (many)
		step->dir = name;
	else
		free(name);
	if (copy_texts(step, task) || leat_step_copy_needs(step, &task->needs))
		return -ENOMEM;
	if (leat_lookup_find(x->names, step->name))
		return -EEXIST;
	return leat_lookup_add(&x->names, step->name, x->to->n_steps - 1);
}

static int add_steps(struct expansion *x)
{
	for (size_t t = 0; t < x->tasks->n; t++) {
		bool clash = false;

		x->first[t] = x->to->n_steps;
		if (x->tasks->v[t].count > 1)
			check_name(x->front, &x->from->steps[t]);
		for (unsigned k = 0; k < x->tasks->v[t].count; k++) {
			int ret = add_step(x, t, k);

			if (ret == -ENOMEM)
				return ret;
			if (ret && !clash)
				leat_lang_report(x->front->diags, L_ENSEMBLE_NAME,
						 x->from->steps[t].pos,
						 "another task or instance is also called \"%s\": "
						 "rename one of them",
						 x->to->steps[x->to->n_steps - 1].name);
			clash |= ret != 0;
		}
	}
	return 0;
}

/* A command with "{filename}" is for one version, however often it opens it. */
static void find_launches(const struct instance *in)
{
	const struct leat_step *step = in->step;

	for (size_t i = 0; i < step->n_inports; i++)
		if (in->x->tasks->v[in->t].filename.line &&
		    step->relaunch == LEAT_RELAUNCH_FOUND_OUT &&
		    leat_inport_has_versions(&step->inports[i]))
			in->step->relaunch = LEAT_RELAUNCH_ALWAYS;
}

static int fill_steps(struct expansion *x)
{
	for (size_t t = 0; t < x->tasks->n; t++) {
		for (unsigned k = 0; k < x->tasks->v[t].count; k++) {
			struct instance in = {x, t, k, &x->from->steps[t],
					      &x->to->steps[x->first[t] + k]};
			int ret = fill_step(&in);

			if (ret)
				return ret;
			find_launches(&in);
		}
	}
	return 0;
}

/* --- Home nodes -------------------------------------------------- */

/* What the coordination file says of a task holds for the files of each instance. */
static int copy_home(struct expansion *x, const struct leat_home_manual *from, unsigned number)
{
	size_t step = x->first[from->step] + number;
	struct leat_home_manual *home =
		leat_workflow_add_home(x->to, (int)step, from->process, from->pos);
	int ret = home ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < from->files.n; i++)
		ret = add_below(&home->files, x->to->steps[step].dir, from->files.v[i].text,
				from->files.v[i].pos);
	return ret;
}

static int copy_homes(struct expansion *x)
{
	int ret = 0;

	for (size_t i = 0; i < x->from->n_home_manual; i++) {
		const struct leat_home_manual *home = &x->from->home_manual[i];

		for (unsigned k = 0; !ret && k < x->tasks->v[home->step].count; k++)
			ret = copy_home(x, home, k);
	}
	return ret;
}

/* Give the workflow the new steps, and the old ones to be freed. */
static void swap_steps(struct expansion *x)
{
	struct leat_workflow *wf = x->front->wf, old = *wf;

	wf->steps = x->to->steps;
	wf->n_steps = x->to->n_steps;
	wf->home_manual = x->to->home_manual;
	wf->n_home_manual = x->to->n_home_manual;
	x->to->steps = old.steps;
	x->to->n_steps = old.n_steps;
	x->to->home_manual = old.home_manual;
	x->to->n_home_manual = old.n_home_manual;
	leat_lookup_free(x->front->steps);
	x->front->steps = x->names;
	x->names = NULL;
}

/* Without it they would first be made, at great cost, and then refused by the daemon. */
static bool are_few(const struct leat_front *front, const struct leat_lang_tasks *tasks)
{
	size_t n = 0;

	for (size_t t = 0; t < tasks->n; t++) {
		n += tasks->v[t].count;
		if (n <= LEAT_MAX_STEPS || tasks->v[t].count == 1)
			continue;
		leat_lang_report(
			front->diags, L_NUMBER, front->wf->steps[t].pos,
			"the %u instances of task \"%s\" are too many: with those before there "
			"are %zu steps, and a run can have %d",
			tasks->v[t].count, front->wf->steps[t].name, n, LEAT_MAX_STEPS);
		return false;
	}
	return true;
}

int leat_tasks_expand(struct leat_front *front, const struct leat_lang_tasks *tasks)
{
	struct expansion x = {.front = front, .tasks = tasks, .from = front->wf};
	int ret;

	if (!are_few(front, tasks))
		return 0;
	x.to = leat_workflow_new();
	x.first = calloc(tasks->n + 1, sizeof(*x.first));
	ret = x.to && x.first ? add_steps(&x) : -ENOMEM;
	if (!ret)
		ret = fill_steps(&x);
	if (!ret)
		ret = copy_homes(&x);
	if (!ret)
		swap_steps(&x);
	leat_lookup_free(x.names);
	leat_workflow_free(x.to);
	free(x.first);
	return ret;
}
