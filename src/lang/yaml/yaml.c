/* leat YAML: tasks with commands and ports. */
#include "lang/yaml/yaml.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/reader/container.h"
#include "lang/reader/extension.h"
#include "lang/reader/home.h"
#include "lang/reader/keys.h"
#include "lang/reader/names.h"
#include "lang/reader/placeholder.h"
#include "lang/reader/rule.h"
#include "lang/reader/scalar.h"
#include "lang/resources/needs.h"
#include "lang/syntax/diagnostics.h"
#include "lang/yaml/coordination.h"
#include "lang/yaml/task.h"

enum {
	TOP_NAME,
	TOP_DIR,
	TOP_COORDINATION,
	TOP_TASKS,
	TOP_PERMANENT,
	TOP_EXCLUDE,
	TOP_ALIASES,
	TOP_STORAGE,
	TOP_HOME,
	TOP_RESOURCES,
	TOP_CONTAINER,
	TOP_ENGINE,
	N_TOP
};

static const struct leat_key top_keys[] = {
	{"name", LEAT_KEY_TAKEN, TOP_NAME},
	{"dir", LEAT_KEY_TAKEN, TOP_DIR},
	{"coordination", LEAT_KEY_TAKEN, TOP_COORDINATION},
	{"tasks", LEAT_KEY_TAKEN, TOP_TASKS},
	{"permanent", LEAT_KEY_TAKEN, TOP_PERMANENT},
	{"exclude", LEAT_KEY_TAKEN, TOP_EXCLUDE},
	{"aliases", LEAT_KEY_TAKEN, TOP_ALIASES},
	{"storage", LEAT_KEY_TAKEN, TOP_STORAGE},
	{"home_node_policy", LEAT_KEY_TAKEN, TOP_HOME},
	{"resources", LEAT_KEY_TAKEN, TOP_RESOURCES},
	{"container", LEAT_KEY_TAKEN, TOP_CONTAINER},
	{"engine", LEAT_KEY_TAKEN, TOP_ENGINE},
	{NULL, 0, 0},
};

enum {
	TASK_FUNC,
	TASK_EXEC,
	TASK_ARGS,
	TASK_INPORTS,
	TASK_OUTPORTS,
	TASK_NPROCS,
	TASK_COUNT,
	TASK_NWRITERS,
	TASK_STAGED,
	TASK_PRIVATE,
	TASK_ACTIONS,
	TASK_RELAUNCH,
	TASK_CONTAINER,
	TASK_ENGINE,
	TASK_NEEDS, /* and on: enum leat_need_key */
	N_TASK = TASK_NEEDS + LEAT_N_NEEDS
};

static const struct leat_key task_keys[] = {
	{"func", LEAT_KEY_TAKEN, TASK_FUNC},
	{"exec", LEAT_KEY_TAKEN, TASK_EXEC},
	{"args", LEAT_KEY_TAKEN, TASK_ARGS},
	{"inports", LEAT_KEY_TAKEN, TASK_INPORTS},
	{"outports", LEAT_KEY_TAKEN, TASK_OUTPORTS},
	{"nprocs", LEAT_KEY_TAKEN, TASK_NPROCS},
	{"taskCount", LEAT_KEY_TAKEN, TASK_COUNT},
	{"nwriters", LEAT_KEY_TAKEN, TASK_NWRITERS},
	{"io_proc", LEAT_KEY_TAKEN, TASK_NWRITERS},
	{"staged", LEAT_KEY_TAKEN, TASK_STAGED},
	{"private", LEAT_KEY_TAKEN, TASK_PRIVATE},
	{"actions", LEAT_KEY_TAKEN, TASK_ACTIONS},
	{"relaunch", LEAT_KEY_TAKEN, TASK_RELAUNCH},
	{"container", LEAT_KEY_TAKEN, TASK_CONTAINER},
	{"engine", LEAT_KEY_TAKEN, TASK_ENGINE},
	{"computing_units", LEAT_KEY_TAKEN, TASK_NEEDS + LEAT_NEED_UNITS},
	{"computingUnits", LEAT_KEY_VARIANT, TASK_NEEDS + LEAT_NEED_UNITS},
	{"io", LEAT_KEY_TAKEN, TASK_NEEDS + LEAT_NEED_IO},
	{"storage_bw", LEAT_KEY_TAKEN, TASK_NEEDS + LEAT_NEED_BANDWIDTH},
	{"storageBW", LEAT_KEY_VARIANT, TASK_NEEDS + LEAT_NEED_BANDWIDTH},
	{"device", LEAT_KEY_TAKEN, TASK_NEEDS + LEAT_NEED_DEVICE},
	{"storage_bw_limit", LEAT_KEY_TAKEN, TASK_NEEDS + LEAT_NEED_LIMIT},
	{"storageBWLimit", LEAT_KEY_VARIANT, TASK_NEEDS + LEAT_NEED_LIMIT},
	{NULL, 0, 0},
};

/* --- Tasks -------------------------------------------------------------------- */

/* Instances in an ensemble: the number is a part of names. */
static void read_counts(struct leat_front *front, const struct leat_pair *slots,
			struct leat_step *step, struct leat_lang_task *task)
{
	const struct leat_pair *writers = &slots[TASK_NWRITERS];
	bool good = true;

	if (slots[TASK_COUNT].key)
		leat_read_number(front, &slots[TASK_COUNT], 1, LEAT_MAX_STEPS, &task->count);
	if (slots[TASK_NPROCS].key)
		good = leat_read_number(front, &slots[TASK_NPROCS], 1, INT_MAX, &step->nprocs);
	if (!writers->key || !leat_read_number(front, writers, 1, INT_MAX, &step->nwriters) ||
	    !good || step->nwriters <= step->nprocs)
		return;
	leat_lang_report(
		front->diags, L_NUMBER, writers->value->pos,
		"\"%s\" is %u, but the task has %u process%s: lower it, or raise \"nprocs\"",
		writers->key->text, step->nwriters, step->nprocs, step->nprocs == 1 ? "" : "es");
}

/* What is no port and no command. */
static int read_settings(struct leat_front *front, const struct leat_pair *slots,
			 const struct leat_container_keys *common, struct leat_step *step,
			 struct leat_lang_task *task)
{
	struct leat_container_keys container = *common;
	bool relaunch;
	int ret = leat_read_needs(front, &slots[TASK_NEEDS], step);

	if (!ret)
		ret = leat_read_container(front, &slots[TASK_CONTAINER], &slots[TASK_ENGINE],
					  &container);
	if (!ret)
		ret = leat_set_container(front, &slots[TASK_ENGINE], &container, step);
	if (!ret)
		ret = leat_read_names(front, &slots[TASK_PRIVATE], 0, &step->private);
	if (ret)
		return ret;
	read_counts(front, slots, step, task);
	if (slots[TASK_STAGED].key)
		leat_read_staged(front, &slots[TASK_STAGED], step);
	if (slots[TASK_RELAUNCH].key && leat_read_bool(front, &slots[TASK_RELAUNCH], &relaunch))
		step->relaunch = relaunch ? LEAT_RELAUNCH_ALWAYS : LEAT_RELAUNCH_NEVER;
	return slots[TASK_ACTIONS].key ? leat_read_actions(front, &slots[TASK_ACTIONS], step) : 0;
}

/* What follows is about that task, if it has a name. */
static void set_subject(struct leat_front *front, const struct leat_value *node)
{
	const struct leat_value *func = leat_value_get(node, "func");
	bool named = func && func->kind == LEAT_VALUE_SCALAR && func->text[0];

	leat_diags_set_subject(front->diags, "task", named ? func->text : NULL);
}

/* A task without a usable name has no step; what else is wrong with it is not looked at. */
static int read_task(struct leat_front *front, const struct leat_value *node,
		     const struct leat_container_keys *common, struct leat_lang_tasks *tasks)
{
	struct leat_lang_task *task = &tasks->v[tasks->n];
	struct leat_pair slots[N_TASK];
	int step, ret;

	set_subject(front, node);
	if (!leat_keys_read(front, node, "a task", task_keys, slots, N_TASK))
		return 0;
	if (!slots[TASK_FUNC].key) {
		leat_key_missing(front, node->pos, "func", "a task");
		return 0;
	}
	ret = leat_read_step_name(front, &slots[TASK_FUNC], &step);
	if (ret || step < 0)
		return ret;
	tasks->n++;
	task->count = 1;
	leat_refuse_placeholders(front, front->wf->steps[step].name, slots[TASK_FUNC].value->pos);
	ret = read_settings(front, slots, common, &front->wf->steps[step], task);
	if (!ret)
		ret = leat_read_command(front, (size_t)step, &slots[TASK_EXEC], &slots[TASK_ARGS],
					task);
	if (!ret)
		ret = leat_read_inports(front, (size_t)step, &slots[TASK_INPORTS], task);
	return ret ? ret : leat_read_outports(front, (size_t)step, &slots[TASK_OUTPORTS], task);
}

/* Where something is wrong already, what does not fit together is no wonder. */
static int link_tasks(struct leat_front *front, struct leat_lang_tasks *tasks)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < tasks->n; i++)
		ret = leat_task_complete(&tasks->v[i], &front->wf->steps[i]);
	if (!ret && !leat_diags_count(front->diags, LEAT_ERROR))
		ret = leat_tasks_link(front, tasks);
	return ret ? ret : leat_tasks_expand(front, tasks);
}

/* Streams of all tasks first, then rules: a rule may name any declared file. */
static int read_tasks(struct leat_front *front, const struct leat_pair *top)
{
	struct leat_container_keys common = {.image = NULL};
	size_t n = leat_read_objects(front, &top[TOP_TASKS]);
	struct leat_lang_tasks tasks = {calloc(n + 1, sizeof(*tasks.v)), 0};
	int ret =
		tasks.v ? leat_read_container(front, &top[TOP_CONTAINER], &top[TOP_ENGINE], &common)
			: -ENOMEM;

	for (size_t i = 0; !ret && i < n; i++)
		ret = read_task(front, leat_pair_item(&top[TOP_TASKS], i), &common, &tasks);
	leat_diags_set_subject(front->diags, NULL, NULL);
	if (!ret && top[TOP_COORDINATION].value)
		ret = leat_read_coordination(front, &top[TOP_COORDINATION]);
	for (size_t i = 0; !ret && i < tasks.n; i++)
		ret = leat_read_port_rules(front, i, &tasks.v[i]);
	if (!ret)
		ret = leat_rules_check(front);
	if (!ret)
		ret = link_tasks(front, &tasks);
	for (size_t i = 0; i < tasks.n; i++)
		leat_task_release(&tasks.v[i]);
	free(tasks.v);
	return ret;
}

int leat_yaml_read(struct leat_front *front, const struct leat_value *root)
{
	struct leat_pair top[N_TOP];
	int ret;

	front->wf->permanent_unless_consumed = true;
	if (!leat_keys_read(front, root, "the file", top_keys, top, N_TOP))
		return 0;
	ret = leat_read_dir(front, &top[TOP_DIR]);
	if (!ret)
		ret = leat_front_find_dir(front);
	if (!ret)
		ret = leat_read_workflow_name(front, &top[TOP_NAME]);
	if (!ret)
		ret = leat_read_aliases(front, &top[TOP_ALIASES]);
	if (!ret)
		ret = read_tasks(front, top);
	leat_groups_check(front);
	if (!ret && top[TOP_TASKS].value && top[TOP_TASKS].value->kind == LEAT_VALUE_LIST &&
	    !top[TOP_TASKS].value->n)
		leat_lang_report(front->diags, L_STEP_NONE, root->pos,
				 "the workflow has no steps: \"tasks\" is empty");
	if (!ret)
		ret = leat_read_names(front, &top[TOP_PERMANENT], 0, &front->wf->permanent);
	if (!ret)
		ret = leat_read_exclude(front, &top[TOP_EXCLUDE]);
	if (!ret)
		ret = leat_read_storage(front, &top[TOP_STORAGE]);
	if (!ret)
		ret = leat_read_workflow_resources(front, &top[TOP_RESOURCES]);
	return ret ? ret : leat_read_home(front, &top[TOP_HOME]);
}
