#include "model/workflow.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Array `v` of `n` elements with space for one more, or NULL. An array holds as
 * many as the next power of two, so that its length says its capacity. */
static void *grow(void *v, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return v;
	return reallocarray(v, n ? 2 * n : 1, size);
}

int leat_names_add(struct leat_names *names, const char *text, struct leat_pos pos)
{
	char *copy = strdup(text);
	struct leat_name *v = copy ? grow(names->v, names->n, sizeof(*v)) : NULL;

	if (!v) {
		free(copy);
		return -ENOMEM;
	}
	names->v = v;
	v[names->n++] = (struct leat_name){copy, pos};
	return 0;
}

int leat_names_append(struct leat_names *names, const struct leat_names *from)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->n; i++)
		rc = leat_names_add(names, from->v[i].text, from->v[i].pos);
	return rc;
}

bool leat_names_has(const struct leat_names *names, const char *text)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i].text, text))
			return true;
	return false;
}

void leat_names_release(struct leat_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i].text);
	free(names->v);
	*names = (struct leat_names){NULL, 0};
}

struct leat_workflow *leat_workflow_new(void)
{
	return calloc(1, sizeof(struct leat_workflow));
}

static void rule_release(struct leat_rule *rule)
{
	free(rule->name.text);
	leat_names_release(&rule->deps);
}

static void inport_release(struct leat_inport *inport)
{
	free(inport->seen.text);
	for (size_t i = 0; i < inport->n_sources; i++)
		free(inport->sources[i].made);
	free(inport->sources);
}

static void ports_release(struct leat_step *step)
{
	for (size_t i = 0; i < step->n_inports; i++)
		inport_release(&step->inports[i]);
	free(step->inports);
	for (size_t i = 0; i < step->n_dsets; i++) {
		free(step->dsets[i].port.text);
		free(step->dsets[i].name.text);
	}
	free(step->dsets);
}

static void step_release(struct leat_step *step)
{
	free(step->name);
	free(step->task);
	free(step->dir);
	free(step->action_file);
	free(step->action_function);
	free(step->container);
	free(step->needs.device);
	ports_release(step);
	for (char **arg = step->argv; arg && *arg; arg++)
		free(*arg);
	free(step->argv);
	leat_names_release(&step->inputs);
	leat_names_release(&step->outputs);
	leat_names_release(&step->private);
	for (size_t i = 0; i < step->n_rules; i++)
		rule_release(&step->rules[i]);
	free(step->rules);
}

void leat_workflow_free(struct leat_workflow *wf)
{
	int saved = errno;

	if (!wf)
		return;
	for (size_t i = 0; i < wf->n_steps; i++)
		step_release(&wf->steps[i]);
	free(wf->steps);
	for (size_t i = 0; i < wf->n_aliases; i++) {
		free(wf->aliases[i].name.text);
		leat_names_release(&wf->aliases[i].files);
	}
	free(wf->aliases);
	for (size_t i = 0; i < wf->n_home_manual; i++)
		leat_names_release(&wf->home_manual[i].files);
	free(wf->home_manual);
	leat_names_release(&wf->permanent);
	leat_names_release(&wf->exclude);
	leat_names_release(&wf->store_memory);
	leat_names_release(&wf->store_fs);
	leat_names_release(&wf->home_create);
	leat_names_release(&wf->home_hashing);
	leat_resources_free(wf->resources);
	free(wf->name);
	free(wf->path);
	free(wf->dir);
	free(wf);
	errno = saved;
}

struct leat_step *leat_workflow_add_step(struct leat_workflow *wf, const char *name,
					 struct leat_pos pos)
{
	char *copy = strdup(name), *task = strdup(name);
	struct leat_step *v = copy && task ? grow(wf->steps, wf->n_steps, sizeof(*v)) : NULL;

	if (!v) {
		free(copy);
		free(task);
		return NULL;
	}
	wf->steps = v;
	v[wf->n_steps] = (struct leat_step){
		.name = copy, .task = task, .ensemble = 1, .pos = pos, .nprocs = 1, .instances = 1};
	return &v[wf->n_steps++];
}

struct leat_inport *leat_step_add_inport(struct leat_step *step, const char *seen,
					 struct leat_pos pos)
{
	char *copy = strdup(seen);
	struct leat_inport *v = copy ? grow(step->inports, step->n_inports, sizeof(*v)) : NULL;

	if (!v) {
		free(copy);
		return NULL;
	}
	step->inports = v;
	v[step->n_inports] = (struct leat_inport){.seen = {copy, pos}};
	return &v[step->n_inports++];
}

int leat_inport_add_source(struct leat_inport *inport, int step, const char *made)
{
	char *copy = strdup(made);
	struct leat_source *v = copy ? grow(inport->sources, inport->n_sources, sizeof(*v)) : NULL;

	if (!v) {
		free(copy);
		return -ENOMEM;
	}
	inport->sources = v;
	v[inport->n_sources++] = (struct leat_source){step, copy};
	return 0;
}

struct leat_dset *leat_step_add_dset(struct leat_step *step, const struct leat_name *port,
				     const char *name, struct leat_pos pos)
{
	const struct leat_pos port_pos = port->pos; /* it may be one of the array's */
	char *port_copy = strdup(port->text), *copy = strdup(name);
	struct leat_dset *v =
		port_copy && copy ? grow(step->dsets, step->n_dsets, sizeof(*v)) : NULL;

	if (!v) {
		free(port_copy);
		free(copy);
		return NULL;
	}
	step->dsets = v;
	v[step->n_dsets] = (struct leat_dset){.port = {port_copy, port_pos}, .name = {copy, pos}};
	return &v[step->n_dsets++];
}

struct leat_rule *leat_step_add_rule(struct leat_step *step, const char *name, struct leat_pos pos)
{
	char *copy = strdup(name);
	struct leat_rule *v = copy ? grow(step->rules, step->n_rules, sizeof(*v)) : NULL;

	if (!v) {
		free(copy);
		return NULL;
	}
	step->rules = v;
	v[step->n_rules] = (struct leat_rule){.name = {copy, pos}};
	return &v[step->n_rules++];
}

void leat_rule_copy(struct leat_rule *to, const struct leat_rule *from)
{
	to->is_dir = from->is_dir;
	to->commit = from->commit;
	to->count = from->count;
	to->commit_pos = from->commit_pos;
	to->fire = from->fire;
	to->n_files = from->n_files;
	to->drop = from->drop;
}

struct leat_alias *leat_workflow_add_alias(struct leat_workflow *wf, const char *name,
					   struct leat_pos pos)
{
	char *copy = strdup(name);
	struct leat_alias *v = copy ? grow(wf->aliases, wf->n_aliases, sizeof(*v)) : NULL;

	if (!v) {
		free(copy);
		return NULL;
	}
	wf->aliases = v;
	v[wf->n_aliases] = (struct leat_alias){.name = {copy, pos}};
	return &v[wf->n_aliases++];
}

struct leat_home_manual *leat_workflow_add_home(struct leat_workflow *wf, int step,
						unsigned process, struct leat_pos pos)
{
	struct leat_home_manual *v = grow(wf->home_manual, wf->n_home_manual, sizeof(*v));

	if (!v)
		return NULL;
	wf->home_manual = v;
	v[wf->n_home_manual] = (struct leat_home_manual){{NULL, 0}, step, process, pos};
	return &v[wf->n_home_manual++];
}

int leat_workflow_find_step(const struct leat_workflow *wf, const char *name)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (!strcmp(wf->steps[i].name, name))
			return (int)i;
	return -1;
}

/* The folder of the workflow file, "" if it is named without one; NULL when out of memory. */
static char *folder_of(const struct leat_workflow *wf)
{
	const char *slash = wf->path ? strrchr(wf->path, '/') : NULL;

	return strndup(slash ? wf->path : "", slash ? (size_t)(slash - wf->path) + 1 : 0);
}

char *leat_workflow_beside(const struct leat_workflow *wf, const char *name)
{
	char *folder = folder_of(wf);
	char *path = folder ? leat_path_join(folder, name) : NULL;

	free(folder);
	return path;
}

int leat_step_image(const struct leat_workflow *wf, const struct leat_step *step,
		    struct leat_image *image, const char **why)
{
	char *folder = folder_of(wf);
	int rc = folder ? leat_image_init(image, folder, step->container, why) : -ENOMEM;

	free(folder);
	return rc;
}

const char *leat_commit_text(enum leat_commit commit, unsigned count, char buffer[32])
{
	static const char *const words[] = {"on_termination", "on_close", "on_file", "n_files"};

	if (count == 0 || commit == LEAT_COMMIT_ON_FILE)
		return words[commit];
	snprintf(buffer, 32, "%s:%u", words[commit], count);
	return buffer;
}

const char *leat_fire_text(enum leat_fire fire)
{
	return fire == LEAT_FIRE_NO_UPDATE ? "no_update" : "update";
}
