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

static bool steps_equal(const struct leat_step *a, const struct leat_step *b)
{
	return !strcmp(a->name, b->name) && argv_equal(a->argv, b->argv) &&
	       a->staged == b->staged && a->instances == b->instances &&
	       names_equal(&a->inputs, &b->inputs) && names_equal(&a->outputs, &b->outputs) &&
	       rules_equal(a, b);
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
	    a->permanent_unless_consumed != b->permanent_unless_consumed)
		return false;
	for (size_t i = 0; i < a->n_steps; i++)
		if (!steps_equal(&a->steps[i], &b->steps[i]))
			return false;
	return aliases_equal(a, b) && homes_equal(a, b) &&
	       names_equal(&a->permanent, &b->permanent) && names_equal(&a->exclude, &b->exclude) &&
	       names_equal(&a->store_memory, &b->store_memory) &&
	       names_equal(&a->store_fs, &b->store_fs);
}
