/* CAPIO-CL in JSON, as published in 2023 and in 2025. */
#include "lang/capio/capio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/capio/own.h"
#include "lang/reader/extension.h"
#include "lang/reader/home.h"
#include "lang/reader/keys.h"
#include "lang/reader/names.h"
#include "lang/reader/rule.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"

enum {
	TOP_NAME,
	TOP_ALIASES,
	TOP_GRAPH,
	TOP_PERMANENT,
	TOP_EXCLUDE,
	TOP_HOME,
	TOP_STORAGE,
	TOP_VERSION,
	TOP_CONFIGURATION,
	TOP_DIR,
	TOP_KEPT,
	TOP_RESOURCES,
	N_TOP
};

static const struct leat_key top_keys[] = {
	{"name", LEAT_KEY_TAKEN, TOP_NAME},
	{"aliases", LEAT_KEY_TAKEN, TOP_ALIASES},
	{"IO_Graph", LEAT_KEY_TAKEN, TOP_GRAPH},
	{"permanent", LEAT_KEY_TAKEN, TOP_PERMANENT},
	{"exclude", LEAT_KEY_TAKEN, TOP_EXCLUDE},
	{"home_node_policy", LEAT_KEY_TAKEN, TOP_HOME},
	{"home-node-policy", LEAT_KEY_VARIANT, TOP_HOME},
	{"home_node_policies", LEAT_KEY_VARIANT, TOP_HOME},
	{"home_node", LEAT_KEY_VARIANT, TOP_HOME},
	{"home_nodes", LEAT_KEY_VARIANT, TOP_HOME},
	{"storage", LEAT_KEY_TAKEN, TOP_STORAGE},
	{"version", LEAT_KEY_TAKEN, TOP_VERSION},
	{"configuration", LEAT_KEY_TAKEN, TOP_CONFIGURATION},
	{"dir", LEAT_KEY_TAKEN, TOP_DIR},
	{"permanent_unless_consumed", LEAT_KEY_TAKEN, TOP_KEPT},
	{"resources", LEAT_KEY_TAKEN, TOP_RESOURCES},
	{NULL, 0, 0},
};

enum {
	STEP_NAME,
	STEP_INPUT,
	STEP_OUTPUT,
	STEP_STREAMING,
	STEP_EXEC,
	STEP_STAGED,
	STEP_OWN, /* and on: enum leat_own_key */
	STEP_NEEDS = STEP_OWN + LEAT_OWN_NEEDS,
	N_STEP = STEP_OWN + LEAT_N_OWN
};

static const struct leat_key step_keys[] = {
	{"name", LEAT_KEY_TAKEN, STEP_NAME},
	{"input_stream", LEAT_KEY_TAKEN, STEP_INPUT},
	{"input-stream", LEAT_KEY_VARIANT, STEP_INPUT},
	{"output_stream", LEAT_KEY_TAKEN, STEP_OUTPUT},
	{"output-stream", LEAT_KEY_VARIANT, STEP_OUTPUT},
	{"streaming", LEAT_KEY_TAKEN, STEP_STREAMING},
	{"exec", LEAT_KEY_TAKEN, STEP_EXEC},
	{"staged", LEAT_KEY_TAKEN, STEP_STAGED},
	{"task", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_TASK},
	{"instance", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_INSTANCE},
	{"ensemble", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_ENSEMBLE},
	{"dir", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_DIR},
	{"nprocs", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_NPROCS},
	{"nwriters", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_NWRITERS},
	{"actions", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_ACTIONS},
	{"private", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_PRIVATE},
	{"relaunch", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_RELAUNCH},
	{"container", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_CONTAINER},
	{"engine", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_ENGINE},
	{"dsets", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_DSETS},
	{"inports", LEAT_KEY_TAKEN, STEP_OWN + LEAT_OWN_INPORTS},
	{"computing_units", LEAT_KEY_TAKEN, STEP_NEEDS + LEAT_NEED_UNITS},
	{"io", LEAT_KEY_TAKEN, STEP_NEEDS + LEAT_NEED_IO},
	{"storage_bw", LEAT_KEY_TAKEN, STEP_NEEDS + LEAT_NEED_BANDWIDTH},
	{"device", LEAT_KEY_TAKEN, STEP_NEEDS + LEAT_NEED_DEVICE},
	{"storage_bw_limit", LEAT_KEY_TAKEN, STEP_NEEDS + LEAT_NEED_LIMIT},
	{NULL, 0, 0},
};

enum {
	RULE_NAME,
	RULE_DIRNAME,
	RULE_TYPE,
	RULE_COMMITTED,
	RULE_MODE,
	RULE_DEPS,
	RULE_N_FILES,
	RULE_RETAIN,
	N_RULE
};

static const struct leat_key rule_keys[] = {
	{"name", LEAT_KEY_TAKEN, RULE_NAME},
	{"dirname", LEAT_KEY_TAKEN, RULE_DIRNAME},
	{"type", LEAT_KEY_TAKEN, RULE_TYPE},
	{"committed", LEAT_KEY_TAKEN, RULE_COMMITTED},
	{"mode", LEAT_KEY_TAKEN, RULE_MODE},
	{"file_deps", LEAT_KEY_TAKEN, RULE_DEPS},
	{"files_deps", LEAT_KEY_VARIANT, RULE_DEPS},
	{"n_files", LEAT_KEY_TAKEN, RULE_N_FILES},
	{"nfiles", LEAT_KEY_VARIANT, RULE_N_FILES},
	{"retain", LEAT_KEY_TAKEN, RULE_RETAIN},
	{NULL, 0, 0},
};

/* A step of IO_Graph and where its keys are. */
struct capio_step {
	int index; /* into wf->steps; -1 if it cannot be used */
	struct leat_pair slots[N_STEP];
};

/* --- Streams ------------------------------------------------------------- */

/* Objects in a stream define groups: make them known before any is used. */
static int define_group(struct leat_front *front, const struct leat_value *node)
{
	struct leat_pair name, files;

	leat_lang_report(front->diags, L_STREAM_FILES, node->pos,
			 "a stream is a list of names: move this object to \"aliases\" and write "
			 "its name here");
	if (!leat_read_group(front, node, "a stream", &name, &files) || !name.key)
		return 0;
	return leat_group_add(front, name.value, &files);
}

static int define_groups(struct leat_front *front, const struct leat_pair *stream)
{
	const struct leat_value *value = stream->value;
	int ret = 0;

	if (!value)
		return 0;
	if (value->kind == LEAT_VALUE_MAP)
		return define_group(front, value);
	for (size_t i = 0; !ret && i < value->n; i++)
		if (value->v[i]->kind == LEAT_VALUE_MAP)
			ret = define_group(front, value->v[i]);
	return ret;
}

/* The names in one element of a stream; an object was checked when its group was defined. */
static int read_stream_item(struct leat_front *front, const struct leat_value *node,
			    struct leat_names *names)
{
	const struct leat_value *group = leat_value_get(node, "group_name");
	const struct leat_value *files = leat_value_get(node, "files");
	const struct leat_value key = {.text = (char[]){"files"}, .pos = node->pos};
	const struct leat_pair entry = {&key, files};

	if (node->kind != LEAT_VALUE_MAP)
		return leat_read_name(front, node, names);
	if (group && group->kind == LEAT_VALUE_SCALAR && leat_group_find(front, group->text))
		return leat_read_name(front, group, names);
	return leat_read_names(front, &entry, 0, names);
}

static int read_stream(struct leat_front *front, const struct leat_pair *stream,
		       struct leat_names *names)
{
	const struct leat_value *value = stream->value;
	int ret = 0;

	if (!value)
		return 0;
	if (value->kind == LEAT_VALUE_MAP)
		return read_stream_item(front, value, names);
	if (value->kind != LEAT_VALUE_LIST)
		return leat_read_names(front, stream, 0, names);
	for (size_t i = 0; !ret && i < value->n; i++)
		ret = read_stream_item(front, value->v[i], names);
	return ret;
}

/* --- Rules ----------------------------------------------------------------- */

static int read_streaming(struct leat_front *front, const struct capio_step *step)
{
	const struct leat_pair *list = &step->slots[STEP_STREAMING];
	struct leat_pair slots[N_RULE];
	size_t n = leat_read_objects(front, list);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		const struct leat_value *item = leat_pair_item(list, i);
		struct leat_rule_text text = {.pos = item->pos, .name_key = "name", .capio = true};

		if (!leat_keys_read(front, item, "a streaming entry", rule_keys, slots, N_RULE))
			continue;
		text.name = slots[RULE_NAME];
		text.dirname = slots[RULE_DIRNAME];
		text.type = slots[RULE_TYPE];
		text.committed = slots[RULE_COMMITTED];
		text.mode = slots[RULE_MODE];
		text.deps = slots[RULE_DEPS];
		text.n_files = slots[RULE_N_FILES];
		text.retain = slots[RULE_RETAIN];
		if (!text.committed.key)
			leat_lang_report(front->diags, L_RULE_NO_COMMITTED, item->pos,
					 "\"committed\" is missing; \"on_termination\" is assumed");
		if (!text.mode.key)
			leat_lang_report(
				front->diags, L_RULE_NO_MODE, item->pos,
				"\"mode\" is missing; \"update\" is assumed (CAPIO-CL 1.4 assumes "
				"\"no_update\")");
		ret = leat_read_rule(front, (size_t)step->index, &text);
	}
	return ret;
}

/* --- The graph ------------------------------------------------------------- */

/* leat's own keys: how the step is started. */
static int read_command(struct leat_front *front, const struct capio_step *step)
{
	struct leat_step *model = &front->wf->steps[step->index];

	if (step->slots[STEP_STAGED].value)
		leat_read_staged(front, &step->slots[STEP_STAGED], model);
	return leat_read_argv(front, &step->slots[STEP_EXEC], &model->argv);
}

static int read_step(struct leat_front *front, const struct leat_value *node,
		     struct capio_step *step)
{
	int ret;

	step->index = -1;
	if (!leat_keys_read(front, node, "a step", step_keys, step->slots, N_STEP))
		return 0;
	if (!step->slots[STEP_NAME].key) {
		leat_key_missing(front, node->pos, "name", "a step");
		return 0;
	}
	ret = leat_read_step_name(front, &step->slots[STEP_NAME], &step->index);
	if (!ret && step->index >= 0)
		ret = read_command(front, step);
	if (!ret && step->index >= 0)
		ret = leat_read_own(front, (size_t)step->index, &step->slots[STEP_OWN]);
	if (!ret)
		ret = define_groups(front, &step->slots[STEP_INPUT]);
	if (!ret)
		ret = define_groups(front, &step->slots[STEP_OUTPUT]);
	return ret;
}

/* Groups first, then streams, then rules: each may name what the others declare
 * anywhere in the file. */
static int read_graph(struct leat_front *front, const struct leat_pair *graph)
{
	size_t n = leat_read_objects(front, graph);
	struct capio_step *steps = n ? calloc(n, sizeof(*steps)) : NULL;
	int ret = n && !steps ? -ENOMEM : 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = read_step(front, leat_pair_item(graph, i), &steps[i]);
	leat_groups_check(front);
	for (size_t i = 0; !ret && i < n; i++) {
		struct leat_step *step;

		if (steps[i].index < 0)
			continue;
		step = &front->wf->steps[steps[i].index];
		ret = read_stream(front, &steps[i].slots[STEP_INPUT], &step->inputs);
		if (!ret)
			ret = read_stream(front, &steps[i].slots[STEP_OUTPUT], &step->outputs);
	}
	for (size_t i = 0; !ret && i < n; i++) {
		if (steps[i].index < 0)
			continue;
		ret = read_streaming(front, &steps[i]);
		if (!ret)
			ret = leat_read_own_inports(front, (size_t)steps[i].index,
						    &steps[i].slots[STEP_OWN + LEAT_OWN_INPORTS]);
	}
	free(steps);
	return ret;
}

static void check_version(struct leat_front *front, const struct leat_pair *version)
{
	const struct leat_value *node = version->value;

	if (node &&
	    (node->kind != LEAT_VALUE_SCALAR ||
	     (strcmp(node->text, "1") && strcmp(node->text, "1.0") && strcmp(node->text, "1.1"))))
		leat_lang_report(front->diags, L_VERSION, node->pos,
				 "unknown version of the language; use 1, 1.0 or 1.1");
}

int leat_capio_read(struct leat_front *front, const struct leat_value *root)
{
	struct leat_pair top[N_TOP];
	int ret;

	if (!leat_keys_read(front, root, "the file", top_keys, top, N_TOP))
		return 0;
	ret = leat_read_dir(front, &top[TOP_DIR]);
	if (!ret)
		ret = leat_front_find_dir(front);
	if (ret)
		return ret;
	if (top[TOP_KEPT].value)
		leat_read_bool(front, &top[TOP_KEPT], &front->wf->permanent_unless_consumed);
	check_version(front, &top[TOP_VERSION]);
	if (top[TOP_CONFIGURATION].key)
		leat_lang_report(front->diags, L_CONFIGURATION, top[TOP_CONFIGURATION].key->pos,
				 "\"configuration\" is ignored");
	if (!top[TOP_NAME].key)
		leat_lang_report(front->diags, L_NAME_MISSING, root->pos,
				 "the workflow has no \"name\"; the file's name is used");
	ret = leat_read_workflow_name(front, &top[TOP_NAME]);
	if (!ret)
		ret = leat_read_aliases(front, &top[TOP_ALIASES]);
	if (!ret)
		ret = read_graph(front, &top[TOP_GRAPH]);
	if (!ret && (!top[TOP_GRAPH].value ||
		     (top[TOP_GRAPH].value->kind == LEAT_VALUE_LIST && !top[TOP_GRAPH].value->n)))
		leat_lang_report(front->diags, L_STEP_NONE, root->pos,
				 "the workflow has no steps: \"IO_Graph\" is missing or empty");
	if (!ret)
		ret = leat_read_names(front, &top[TOP_PERMANENT], 0, &front->wf->permanent);
	if (!ret)
		ret = leat_read_exclude(front, &top[TOP_EXCLUDE]);
	if (!ret)
		ret = leat_read_storage(front, &top[TOP_STORAGE]);
	if (!ret)
		ret = leat_read_home(front, &top[TOP_HOME]);
	if (!ret)
		ret = leat_read_workflow_resources(front, &top[TOP_RESOURCES]);
	return ret ? ret : leat_rules_check(front);
}
