/* When two models say the same. */
#include "model/workflow.h"

#include <string.h>

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool names_equal(const struct leat_names *a, const struct leat_names *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].text, b->v[i].text))
			return false;
	return true;
}

bool leat_rule_agrees(const struct leat_rule *a, const struct leat_rule *b)
{
	return a->commit == b->commit && a->count == b->count && a->fire == b->fire &&
	       a->n_files == b->n_files && a->drop == b->drop && names_equal(&a->deps, &b->deps);
}

static bool rules_equal(const struct leat_step *a, const struct leat_step *b)
{
	if (a->n_rules != b->n_rules)
		return false;
	for (size_t i = 0; i < a->n_rules; i++)
		if (a->rules[i].is_dir != b->rules[i].is_dir ||
		    strcmp(a->rules[i].name.text, b->rules[i].name.text) ||
		    !leat_rule_agrees(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

static bool argv_equal(char *const *a, char *const *b)
{
	if (!a || !b)
		return a == b;
	while (*a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool inport_equal(const struct leat_inport *a, const struct leat_inport *b)
{
	if (strcmp(a->seen.text, b->seen.text) || a->flow != b->flow || a->every != b->every ||
	    a->n_sources != b->n_sources)
		return false;
	for (size_t i = 0; i < a->n_sources; i++)
		if (a->sources[i].step != b->sources[i].step ||
		    strcmp(a->sources[i].made, b->sources[i].made))
			return false;
	return true;
}

static bool dset_equal(const struct leat_dset *a, const struct leat_dset *b)
{
	return !strcmp(a->port.text, b->port.text) && !strcmp(a->name.text, b->name.text) &&
	       a->in == b->in && a->file == b->file && a->memory == b->memory;
}

static bool ports_equal(const struct leat_step *a, const struct leat_step *b)
{
	if (a->n_inports != b->n_inports || a->n_dsets != b->n_dsets)
		return false;
	for (size_t i = 0; i < a->n_inports; i++)
		if (!inport_equal(&a->inports[i], &b->inports[i]))
			return false;
	for (size_t i = 0; i < a->n_dsets; i++)
		if (!dset_equal(&a->dsets[i], &b->dsets[i]))
			return false;
	return true;
}

static bool needs_equal(const struct leat_needs *a, const struct leat_needs *b)
{
	return a->computing_units == b->computing_units && a->io == b->io &&
	       a->bandwidth.kind == b->bandwidth.kind && a->bandwidth.min == b->bandwidth.min &&
	       a->bandwidth.max == b->bandwidth.max && a->bandwidth.delta == b->bandwidth.delta &&
	       text_equal(a->device, b->device) && a->limit_mbps == b->limit_mbps;
}

/* How many of it there are, and what goes with them. */
static bool launches_equal(const struct leat_step *a, const struct leat_step *b)
{
	return text_equal(a->task, b->task) && a->instance == b->instance &&
	       a->ensemble == b->ensemble && text_equal(a->dir, b->dir) && a->nprocs == b->nprocs &&
	       a->nwriters == b->nwriters && text_equal(a->action_file, b->action_file) &&
	       text_equal(a->action_function, b->action_function) && a->relaunch == b->relaunch &&
	       text_equal(a->container, b->container) && a->engine == b->engine &&
	       needs_equal(&a->needs, &b->needs);
}

static bool steps_equal(const struct leat_step *a, const struct leat_step *b)
{
	return !strcmp(a->name, b->name) && argv_equal(a->argv, b->argv) &&
	       a->staged == b->staged && a->concurrent == b->concurrent &&
	       a->instances == b->instances && launches_equal(a, b) && ports_equal(a, b) &&
	       names_equal(&a->inputs, &b->inputs) && names_equal(&a->outputs, &b->outputs) &&
	       names_equal(&a->private, &b->private) && rules_equal(a, b);
}

static bool aliases_equal(const struct leat_workflow *a, const struct leat_workflow *b)
{
	if (a->n_aliases != b->n_aliases)
		return false;
	for (size_t i = 0; i < a->n_aliases; i++)
		if (strcmp(a->aliases[i].name.text, b->aliases[i].name.text) ||
		    !names_equal(&a->aliases[i].files, &b->aliases[i].files))
			return false;
	return true;
}

static bool homes_equal(const struct leat_workflow *a, const struct leat_workflow *b)
{
	if (a->n_home_manual != b->n_home_manual ||
	    !names_equal(&a->home_create, &b->home_create) ||
	    !names_equal(&a->home_hashing, &b->home_hashing))
		return false;
	for (size_t i = 0; i < a->n_home_manual; i++)
		if (a->home_manual[i].step != b->home_manual[i].step ||
		    a->home_manual[i].process != b->home_manual[i].process ||
		    !names_equal(&a->home_manual[i].files, &b->home_manual[i].files))
			return false;
	return true;
}

bool leat_workflow_equal(const struct leat_workflow *a, const struct leat_workflow *b)
{
	if (!text_equal(a->name, b->name) || !text_equal(a->dir, b->dir) ||
	    a->n_steps != b->n_steps ||
	    a->permanent_unless_consumed != b->permanent_unless_consumed ||
	    !leat_resources_equal(a->resources, b->resources))
		return false;
	for (size_t i = 0; i < a->n_steps; i++)
		if (!steps_equal(&a->steps[i], &b->steps[i]))
			return false;
	return aliases_equal(a, b) && homes_equal(a, b) &&
	       names_equal(&a->permanent, &b->permanent) && names_equal(&a->exclude, &b->exclude) &&
	       names_equal(&a->store_memory, &b->store_memory) &&
	       names_equal(&a->store_fs, &b->store_fs);
}
