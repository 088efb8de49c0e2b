/* Adding what a coordination file says to the tasks of a YAML file. */
#include "lang/yaml/merge.h"

#include <errno.h>
#include <string.h>

#include "lang/reader/names.h"
#include "lang/syntax/diagnostics.h"

/* Append the names that `to` does not have yet. */
static int merge_names(struct leat_names *to, const struct leat_names *from)
{
	struct leat_lookup *known = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < to->n; i++)
		if (!leat_lookup_find(known, to->v[i].text))
			ret = leat_lookup_add(&known, to->v[i].text, i);
	for (size_t i = 0; !ret && i < from->n; i++)
		if (!leat_lookup_find(known, from->v[i].text))
			ret = leat_names_add(to, from->v[i].text, from->v[i].pos);
	leat_lookup_free(known);
	return ret;
}

static int merge_rules(struct leat_step *to, const struct leat_step *from)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < from->n_rules; i++) {
		const struct leat_rule *rule = &from->rules[i];
		struct leat_rule *added = leat_step_add_rule(to, rule->name.text, rule->name.pos);

		if (!added)
			return -ENOMEM;
		leat_rule_copy(added, rule);
		ret = leat_names_append(&added->deps, &rule->deps);
	}
	return ret;
}

/* The step of that name here, or -1 (reported). */
static int find_task(struct leat_front *front, const struct leat_step *step)
{
	const struct leat_lookup *known = leat_lookup_find(front->steps, step->name);

	if (known)
		return (int)known->index;
	leat_step_unknown(front, step->name, step->pos);
	return -1;
}

static int merge_step(struct leat_front *front, const struct leat_step *from)
{
	int index = find_task(front, from);
	struct leat_step *to;
	int ret;

	if (index < 0)
		return 0;
	to = &front->wf->steps[index];
	ret = merge_names(&to->inputs, &from->inputs);
	if (!ret)
		ret = merge_names(&to->outputs, &from->outputs);
	return ret ? ret : merge_rules(to, from);
}

static int merge_alias(struct leat_front *front, const struct leat_alias *from)
{
	struct leat_alias *alias;
	int ret;

	if (leat_group_find(front, from->name.text)) {
		leat_lang_report(front->diags, L_ALIAS_TWICE, from->name.pos,
				 "the YAML file also has an alias \"%s\"", from->name.text);
		return 0;
	}
	alias = leat_workflow_add_alias(front->wf, from->name.text, from->name.pos);
	if (!alias)
		return -ENOMEM;
	ret = leat_lookup_add(&front->groups, alias->name.text, front->wf->n_aliases - 1);
	return ret ? ret : leat_names_append(&alias->files, &from->files);
}

static int merge_home(struct leat_front *front, const struct leat_workflow *from,
		      const struct leat_home_manual *manual)
{
	const struct leat_lookup *known =
		leat_lookup_find(front->steps, from->steps[manual->step].name);
	struct leat_home_manual *added;

	if (!known)
		return 0; /* reported with its step */
	added = leat_workflow_add_home(front->wf, (int)known->index, manual->process, manual->pos);
	return added ? leat_names_append(&added->files, &manual->files) : -ENOMEM;
}

static bool has_own_keys(const struct leat_step *step)
{
	return step->argv || step->staged || step->ensemble > 1 || step->nprocs > 1 ||
	       step->nwriters || step->action_file || step->container ||
	       step->relaunch != LEAT_RELAUNCH_FOUND_OUT || step->n_dsets ||
	       leat_step_has_needs(step) || step->needs.limit_mbps || step->n_inports ||
	       step->private.n || strcmp(step->task, step->name) != 0;
}

/* leat's own keys have no place in a coordination file: the YAML file has them. */
static void refuse_own_keys(struct leat_front *front, const struct leat_workflow *from)
{
	const struct leat_pos top = {1, 1, from->n_steps ? from->steps[0].pos.file : 0};

	if (from->dir || from->permanent_unless_consumed || from->resources)
		leat_lang_report(front->diags, L_COORDINATION, top,
				 "\"dir\", \"permanent_unless_consumed\" and \"resources\" belong "
				 "in the YAML file");
	for (size_t i = 0; i < from->n_steps; i++)
		if (has_own_keys(&from->steps[i]))
			leat_lang_report(
				front->diags, L_COORDINATION, from->steps[i].pos,
				"leat's own keys of \"%s\", as \"exec\", belong in the YAML file",
				from->steps[i].name);
}

int leat_merge(struct leat_front *front, const struct leat_workflow *from)
{
	struct leat_workflow *to = front->wf;
	int ret = 0;

	refuse_own_keys(front, from);
	for (size_t i = 0; !ret && i < from->n_steps; i++)
		ret = merge_step(front, &from->steps[i]);
	for (size_t i = 0; !ret && i < from->n_aliases; i++)
		ret = merge_alias(front, &from->aliases[i]);
	for (size_t i = 0; !ret && i < from->n_home_manual; i++)
		ret = merge_home(front, from, &from->home_manual[i]);
	if (!ret)
		ret = leat_names_append(&to->permanent, &from->permanent);
	if (!ret)
		ret = leat_names_append(&to->exclude, &from->exclude);
	if (!ret)
		ret = leat_names_append(&to->store_memory, &from->store_memory);
	if (!ret)
		ret = leat_names_append(&to->store_fs, &from->store_fs);
	if (!ret)
		ret = leat_names_append(&to->home_create, &from->home_create);
	return ret ? ret : leat_names_append(&to->home_hashing, &from->home_hashing);
}
