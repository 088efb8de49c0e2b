/* Workloads to simulate. */
#include "lang/resources/workload.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/keys.h"
#include "lang/reader/scalar.h"
#include "lang/resources/needs.h"
#include "lang/syntax/diagnostics.h"
#include "lang/syntax/source.h"

enum { TOP_WORKLOAD, TOP_ITERATIONS, TOP_TASKS, TOP_TRIALS, N_TOP };

static const struct leat_key top_keys[] = {
	{"workload", LEAT_KEY_TAKEN, TOP_WORKLOAD},
	{"iterations", LEAT_KEY_TAKEN, TOP_ITERATIONS},
	{"tasks", LEAT_KEY_TAKEN, TOP_TASKS},
	{"trials", LEAT_KEY_TAKEN, TOP_TRIALS},
	{NULL, 0, 0},
};

enum {
	GROUP_NAME,
	GROUP_COUNT,
	GROUP_IO,
	GROUP_UNITS,
	GROUP_SECONDS,
	GROUP_SPREAD,
	GROUP_MEGABYTES,
	GROUP_DEVICE,
	GROUP_BANDWIDTH,
	GROUP_EACH,
	GROUP_AFTER,
	GROUP_PREVIOUS,
	N_GROUP
};

static const struct leat_key group_keys[] = {
	{"name", LEAT_KEY_TAKEN, GROUP_NAME},
	{"count", LEAT_KEY_TAKEN, GROUP_COUNT},
	{"io", LEAT_KEY_TAKEN, GROUP_IO},
	{"computing_units", LEAT_KEY_TAKEN, GROUP_UNITS},
	{"computingUnits", LEAT_KEY_VARIANT, GROUP_UNITS},
	{"seconds", LEAT_KEY_TAKEN, GROUP_SECONDS},
	{"spread", LEAT_KEY_TAKEN, GROUP_SPREAD},
	{"megabytes", LEAT_KEY_TAKEN, GROUP_MEGABYTES},
	{"device", LEAT_KEY_TAKEN, GROUP_DEVICE},
	{"storage_bw", LEAT_KEY_TAKEN, GROUP_BANDWIDTH},
	{"storageBW", LEAT_KEY_VARIANT, GROUP_BANDWIDTH},
	{"each", LEAT_KEY_TAKEN, GROUP_EACH},
	{"after", LEAT_KEY_TAKEN, GROUP_AFTER},
	{"previous", LEAT_KEY_TAKEN, GROUP_PREVIOUS},
	{NULL, 0, 0},
};

struct reading {
	struct leat_front front;
	struct leat_workload *w; /* borrowed */
};

/* --- what a group is ------------------------------------------------------------------------- */

/* A number of seconds, with decimals; reported if it is none. */
static void read_seconds(struct leat_front *front, const struct leat_pair *entry, double *seconds)
{
	const struct leat_value *node = entry->value;
	char *end = NULL;
	double value = 0;

	if (node->kind == LEAT_VALUE_SCALAR && node->plain && node->text[0] >= '0' &&
	    node->text[0] <= '9')
		value = strtod(node->text, &end);
	if (end && !*end && value <= 1e9)
		*seconds = value;
	else
		leat_lang_report(front->diags, L_NUMBER, node->pos,
				 "\"%s\" must be a number of seconds of at least 0, not %s",
				 entry->key->text,
				 node->kind == LEAT_VALUE_SCALAR && node->text[0]
					 ? node->text
					 : leat_value_describe(node));
}

static void read_numbers(struct leat_front *front, const struct leat_pair *slots,
			 struct leat_group *group)
{
	static const struct {
		int slot;
		unsigned min, max;
		size_t offset;
	} numbers[] = {
		{GROUP_COUNT, 1, 10000000, offsetof(struct leat_group, count)},
		{GROUP_UNITS, 1, INT_MAX, offsetof(struct leat_group, computing_units)},
		{GROUP_SPREAD, 0, 100, offsetof(struct leat_group, spread)},
		{GROUP_MEGABYTES, 1, INT_MAX, offsetof(struct leat_group, megabytes)},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (slots[numbers[i].slot].key)
			leat_read_number(front, &slots[numbers[i].slot], numbers[i].min,
					 numbers[i].max,
					 (unsigned *)(void *)((char *)group + numbers[i].offset));
}

/* What contradicts itself. */
static void check_group(struct leat_front *front, const struct leat_pair *slots,
			const struct leat_group *group)
{
	const char *why = NULL;

	if (group->io && slots[GROUP_UNITS].key)
		why = "is an I/O task, which takes no computing units";
	else if (!group->io && slots[GROUP_BANDWIDTH].key)
		why = "has \"storage_bw\", which is for I/O tasks; add \"io: true\"";
	else if (slots[GROUP_BANDWIDTH].key && !slots[GROUP_DEVICE].key)
		why = "has \"storage_bw\" but no \"device\"";
	else if (slots[GROUP_MEGABYTES].key && !slots[GROUP_DEVICE].key)
		why = "has \"megabytes\" but no \"device\" to transfer them";
	else if (!slots[GROUP_MEGABYTES].key && !slots[GROUP_SECONDS].key)
		why = "takes no time: it needs \"seconds\", or \"megabytes\" and \"device\"";
	if (why)
		leat_lang_report(front->diags, L_WORKLOAD, group->pos, "\"%s\" %s", group->name,
				 why);
}

static int read_group(struct reading *r, const struct leat_value *item)
{
	struct leat_front *front = &r->front;
	struct leat_pair slots[N_GROUP];
	struct leat_group *group;
	const char *name, *device;

	if (!leat_keys_read(front, item, "a group of tasks", group_keys, slots, N_GROUP))
		return 0;
	if (!slots[GROUP_NAME].key) {
		leat_key_missing(front, item->pos, "name", "a group of tasks");
		return 0;
	}
	name = leat_read_text(front, &slots[GROUP_NAME]);
	if (name && leat_workload_find(r->w, name) >= 0) {
		leat_lang_report(front->diags, L_WORKLOAD, slots[GROUP_NAME].value->pos,
				 "tasks \"%s\" are described twice", name);
		return 0;
	}
	group = leat_workload_add_group(r->w, name ? name : "?");
	if (!group)
		return -ENOMEM;
	group->pos = slots[GROUP_NAME].value->pos;
	group->count = group->computing_units = 1;
	read_numbers(front, slots, group);
	if (slots[GROUP_IO].key)
		leat_read_bool(front, &slots[GROUP_IO], &group->io);
	if (slots[GROUP_SECONDS].key)
		read_seconds(front, &slots[GROUP_SECONDS], &group->seconds);
	if (slots[GROUP_BANDWIDTH].key)
		leat_read_bandwidth(front, &slots[GROUP_BANDWIDTH], &group->bandwidth);
	check_group(front, slots, group);
	device = slots[GROUP_DEVICE].key ? leat_read_text(front, &slots[GROUP_DEVICE]) : NULL;
	group->device = device ? strdup(device) : NULL;
	return device && !group->device ? -ENOMEM : 0;
}

/* --- what it waits for ------------------------------------------------- */

static int link_one(struct reading *r, size_t from, const struct leat_value *node, bool previous,
		    struct leat_groups *groups)
{
	const char *name = node->kind == LEAT_VALUE_SCALAR ? node->text : "";
	int index = leat_workload_find(r->w, name), near = -1;

	if (index >= 0 && (previous || (size_t)index < from))
		return leat_groups_add(groups, (size_t)index);
	for (size_t i = 0; i < r->w->n_groups; i++)
		if (near < 0 || leat_str_distance(name, r->w->groups[i].name) <
					leat_str_distance(name, r->w->groups[near].name))
			near = (int)i;
	if (index >= 0)
		leat_lang_report(r->front.diags, L_WORKLOAD, node->pos,
				 "\"%s\" depends on \"%s\", which must be described before it",
				 r->w->groups[from].name, name);
	else
		leat_lang_report(
			r->front.diags, L_WORKLOAD, node->pos,
			"\"%s\" depends on \"%s\", which does not exist; did you mean \"%s\"?",
			r->w->groups[from].name, name, r->w->groups[near].name);
	return 0;
}

static int link_all(struct reading *r, size_t from, const struct leat_value *value, bool previous,
		    struct leat_groups *groups)
{
	int ret = 0;

	if (!value)
		return 0;
	if (value->kind != LEAT_VALUE_LIST)
		return link_one(r, from, value, previous, groups);
	for (size_t i = 0; !ret && i < value->n; i++)
		ret = link_one(r, from, value->v[i], previous, groups);
	return ret;
}

static int link_group(struct reading *r, size_t index, const struct leat_value *item)
{
	struct leat_group *group = &r->w->groups[index];
	int ret = link_all(r, index, leat_value_get(item, "each"), false, &group->each);

	if (!ret)
		ret = link_all(r, index, leat_value_get(item, "after"), false, &group->after);
	if (!ret)
		ret = link_all(r, index, leat_value_get(item, "previous"), true, &group->previous);
	return ret;
}

/* --- the file ---------------------------------------------------------- */

static int read_trials(struct reading *r, const struct leat_pair *entry)
{
	const struct leat_value *list = entry->value;
	int ret = 0;

	if (list->kind != LEAT_VALUE_LIST) {
		leat_lang_report(r->front.diags, L_TYPE, list->pos,
				 "\"trials\" must be a list, not %s", leat_value_describe(list));
		return 0;
	}
	for (size_t i = 0; ret != -ENOMEM && i < list->n; i++) {
		const struct leat_value *node = list->v[i];
		char why[LEAT_BANDWIDTH_WHY] = "a trial must be one word";

		ret = node->kind == LEAT_VALUE_SCALAR
			      ? leat_workload_add_trial(r->w, node->text, why)
			      : -EINVAL;
		if (ret == -EINVAL)
			leat_lang_report(r->front.diags, L_BANDWIDTH, node->pos, "%s", why);
	}
	return ret == -ENOMEM ? ret : 0;
}

static int read_tasks(struct reading *r, const struct leat_pair *entry)
{
	size_t n = leat_read_objects(&r->front, entry);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = read_group(r, leat_pair_item(entry, i));
	/* What is wrong with a group may leave it out; then links are not worth a message. */
	for (size_t i = 0; !ret && r->w->n_groups == n && i < n; i++)
		ret = link_group(r, i, leat_pair_item(entry, i));
	return ret;
}

static int read_workload(struct reading *r, const struct leat_value *root)
{
	struct leat_pair slots[N_TOP];
	const char *name;
	int ret;

	if (!leat_keys_read(&r->front, root, "a workload", top_keys, slots, N_TOP))
		return 0;
	if (!slots[TOP_WORKLOAD].key || !slots[TOP_TASKS].key) {
		leat_key_missing(&r->front, root->pos,
				 slots[TOP_WORKLOAD].key ? "tasks" : "workload", "a workload");
		return 0;
	}
	name = leat_read_text(&r->front, &slots[TOP_WORKLOAD]);
	r->w->name = strdup(name ? name : "?");
	if (!r->w->name)
		return -ENOMEM;
	if (slots[TOP_ITERATIONS].key)
		leat_read_number(&r->front, &slots[TOP_ITERATIONS], 1, 1000000, &r->w->iterations);
	ret = read_tasks(r, &slots[TOP_TASKS]);
	return !ret && slots[TOP_TRIALS].key ? read_trials(r, &slots[TOP_TRIALS]) : ret;
}

struct leat_workload *leat_workload_parse(const char *given, size_t size, const char *path,
					  struct leat_diags **diags)
{
	struct reading r = {.w = NULL};
	struct leat_value *root = NULL;
	const char *text;
	int ret = leat_source_take(path, given, &size, diags, &text);

	r.front.diags = *diags;
	if (!ret) {
		r.front.json = text[strspn(text, " \t\r\n")] == '{';
		ret = leat_value_parse(text, size, 0, r.front.json, *diags, &root);
	}
	if (!ret) {
		r.w = leat_workload_new();
		ret = r.w ? read_workload(&r, root) : -ENOMEM;
	}
	leat_value_free(root);
	if (leat_source_finish(ret, diags))
		return r.w;
	leat_workload_free(r.w);
	return NULL;
}

struct leat_workload *leat_workload_load(const char *path, struct leat_diags **diags)
{
	struct leat_workload *w;
	size_t size;
	char *text = leat_source_load(path, &size, diags);

	w = text ? leat_workload_parse(text, size, path, diags) : NULL;
	free(text);
	return w;
}
