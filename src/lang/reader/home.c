/* The section home_node_policy, in the forms of 2023 and 2025. */
#include "lang/reader/home.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lang/reader/keys.h"
#include "lang/reader/names.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

enum { HOME_CREATE, HOME_HASHING, HOME_MANUAL, N_HOME };

static const struct leat_key home_keys[] = {
	{"create", LEAT_KEY_TAKEN, HOME_CREATE},
	{"hashing", LEAT_KEY_TAKEN, HOME_HASHING},
	{"hash", LEAT_KEY_VARIANT, HOME_HASHING},
	{"manual", LEAT_KEY_TAKEN, HOME_MANUAL},
	{NULL, 0, 0},
};

enum { MANUAL_NAME, MANUAL_NODE, N_MANUAL };

static const struct leat_key manual_keys[] = {
	{"name", LEAT_KEY_TAKEN, MANUAL_NAME},
	{"app_node", LEAT_KEY_TAKEN, MANUAL_NODE},
	{NULL, 0, 0},
};

static const struct leat_key keys_2023[] = {
	{"files", LEAT_KEY_TAKEN, MANUAL_NAME},
	{"node", LEAT_KEY_TAKEN, MANUAL_NODE},
	{NULL, 0, 0},
};

/* --- Which process ----------------------------------------------------------- */

/* The step whose name differs from `name` only in case, or -1; *several if
 * there are two of them. */
static int find_folded(const struct leat_workflow *wf, const char *name, bool *several)
{
	int found = -1;

	*several = false;
	for (size_t i = 0; i < wf->n_steps; i++) {
		if (strcasecmp(wf->steps[i].name, name))
			continue;
		*several = found >= 0;
		found = (int)i;
	}
	return *several ? -1 : found;
}

static int find_step(struct leat_front *front, const char *name, struct leat_pos pos)
{
	const struct leat_lookup *known = leat_lookup_find(front->steps, name);
	bool several;
	int step;

	if (known)
		return (int)known->index;
	step = find_folded(front->wf, name, &several);
	if (several)
		leat_lang_report(front->diags, L_STEP_UNKNOWN, pos,
				 "no step is called \"%s\"; several names differ from it only in "
				 "upper and lower case",
				 name);
	else if (step < 0)
		leat_step_unknown(front, name, pos);
	else
		leat_lang_report(front->diags, L_STEP_CASE, pos,
				 "\"%s\" is read as the step \"%s\"", name,
				 front->wf->steps[step].name);
	return step;
}

/* The step in "step:process" or "step". The form with a number goes first, as a
 * step's own name may have a colon. *step is -1 when reported. */
static int read_node(struct leat_front *front, const struct leat_pair *entry, int *step,
		     unsigned *process)
{
	const char *text = leat_read_text(front, entry);
	const char *colon = text ? strrchr(text, ':') : NULL;
	bool numbered = colon && leat_parse_count(colon + 1, 0, process);
	char *name;

	*step = -1;
	if (!text)
		return 0;
	name = strndup(text, numbered ? (size_t)(colon - text) : strlen(text));
	if (!name)
		return -ENOMEM;
	if (!numbered ||
	    (!leat_lookup_find(front->steps, name) && leat_lookup_find(front->steps, text)))
		*process = 0;
	else
		text = name;
	if (colon && !numbered && !leat_lookup_find(front->steps, text))
		leat_lang_report(front->diags, L_NUMBER, entry->value->pos,
				 "\"%s\": what follows the colon must be the number of a process",
				 text);
	else
		*step = find_step(front, text, entry->value->pos);
	free(name);
	return 0;
}

/* --- Entries ----------------------------------------------------------------- */

static int read_manual(struct leat_front *front, const struct leat_value *item,
		       const struct leat_key *keys)
{
	struct leat_pair slots[N_MANUAL];
	struct leat_home_manual *manual;
	unsigned process;
	int step, ret;

	if (!leat_keys_read(front, item, "a home node entry", keys, slots, N_MANUAL))
		return 0;
	for (int i = 0; i < N_MANUAL; i++)
		if (!slots[i].key)
			leat_key_missing(front, item->pos, keys[i].name, "a home node entry");
	if (!slots[MANUAL_NAME].key || !slots[MANUAL_NODE].key)
		return 0;
	ret = read_node(front, &slots[MANUAL_NODE], &step, &process);
	if (ret || step < 0)
		return ret;
	manual = leat_workflow_add_home(front->wf, step, process, slots[MANUAL_NODE].value->pos);
	if (!manual)
		return -ENOMEM;
	return leat_read_names(front, &slots[MANUAL_NAME], 0, &manual->files);
}

/* {"files": [...], "node": "step"}, or a list of these. */
static int read_2023(struct leat_front *front, const struct leat_pair *entry)
{
	bool list = entry->value->kind == LEAT_VALUE_LIST;
	size_t n = list ? entry->value->n : 1;
	int ret = 0;

	leat_lang_report(
		front->diags, L_HOME_2023, entry->value->pos,
		"\"files\" and \"node\" are the form of 2023: write {\"manual\": [{\"name\": "
		"[...], \"app_node\": \"step:0\"}]}");
	for (size_t i = 0; !ret && i < n; i++)
		ret = read_manual(front, leat_pair_item(entry, i), keys_2023);
	return ret;
}

/* "create" or "hashing": for all files. */
static int read_policy_word(struct leat_front *front, const struct leat_pair *entry)
{
	const char *text = leat_read_text(front, entry);
	bool hashing;

	if (!text)
		return 0;
	hashing = !strcmp(text, "hashing") || !strcmp(text, "hash");
	if (!hashing && strcmp(text, "create")) {
		leat_lang_report(front->diags, L_TYPE, entry->value->pos,
				 "\"%s\" must be an object with create, hashing, manual",
				 entry->key->text);
		return 0;
	}
	leat_lang_report(front->diags, L_HOME_STRING, entry->value->pos,
			 "\"%s\" is read as {\"%s\": [\"*\"]}", text,
			 hashing ? "hashing" : "create");
	return leat_names_add(hashing ? &front->wf->home_hashing : &front->wf->home_create, "*",
			      entry->value->pos);
}

static int read_policies(struct leat_front *front, const struct leat_pair *entry)
{
	struct leat_pair slots[N_HOME];
	size_t n;
	int ret;

	if (!leat_keys_read(front, entry->value, "a home node policy", home_keys, slots, N_HOME))
		return 0;
	ret = leat_read_names(front, &slots[HOME_CREATE], 0, &front->wf->home_create);
	if (!ret)
		ret = leat_read_names(front, &slots[HOME_HASHING], 0, &front->wf->home_hashing);
	n = leat_read_objects(front, &slots[HOME_MANUAL]);
	for (size_t i = 0; !ret && i < n; i++)
		ret = read_manual(front, leat_pair_item(&slots[HOME_MANUAL], i), manual_keys);
	return ret;
}

/* --- Disjoint sets ------------------------------------------------------------ */

/* All names under all policies; `set` tells the policies (and nodes) apart. */
struct homed {
	const char *text; /* borrowed */
	struct leat_pos pos;
	size_t set;
};

struct homes {
	struct homed *v; /* owned */
	size_t n;
};

static void collect(struct homes *homes, const struct leat_names *names, size_t set)
{
	for (size_t i = 0; i < names->n; i++)
		homes->v[homes->n++] = (struct homed){names->v[i].text, names->v[i].pos, set};
}

static void report_twice(struct leat_front *front, const struct homed *a, const struct homed *b)
{
	leat_lang_report(
		front->diags, L_HOME_TWICE, a->pos,
		"\"%s\" is under two home node policies (also line %d): keep the sets disjoint",
		a->text, b->pos.line);
}

static int check_equal_names(struct leat_front *front, const struct homes *homes)
{
	struct leat_lookup *table = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < homes->n; i++) {
		const struct homed *a = &homes->v[i];
		const struct leat_lookup *known = leat_lookup_find(table, a->text);

		if (!known)
			ret = leat_lookup_add(&table, a->text, i);
		else if (homes->v[known->index].set != a->set)
			report_twice(front, a, &homes->v[known->index]);
	}
	leat_lookup_free(table);
	return ret;
}

/* A name that a pattern of another set matches. Whether two patterns meet is not
 * decided here. */
static void check_patterns(struct leat_front *front, const struct homes *homes)
{
	for (size_t i = 0; i < homes->n; i++) {
		const struct homed *pattern = &homes->v[i];

		if (!leat_pattern_is_wild(pattern->text))
			continue;
		for (size_t k = 0; k < homes->n; k++)
			if (homes->v[k].set != pattern->set &&
			    !leat_pattern_is_wild(homes->v[k].text) &&
			    leat_pattern_match(pattern->text, homes->v[k].text))
				report_twice(front, &homes->v[k], pattern);
	}
}

static int check_disjoint(struct leat_front *front)
{
	const struct leat_workflow *wf = front->wf;
	struct homes homes = {NULL, wf->home_create.n + wf->home_hashing.n};
	int ret;

	for (size_t i = 0; i < wf->n_home_manual; i++)
		homes.n += wf->home_manual[i].files.n;
	if (!homes.n)
		return 0;
	homes.v = calloc(homes.n, sizeof(*homes.v));
	if (!homes.v)
		return -ENOMEM;
	homes.n = 0;
	collect(&homes, &wf->home_create, 0);
	collect(&homes, &wf->home_hashing, 1);
	for (size_t i = 0; i < wf->n_home_manual; i++)
		collect(&homes, &wf->home_manual[i].files, 2 + i);
	ret = check_equal_names(front, &homes);
	if (!ret)
		check_patterns(front, &homes);
	free(homes.v);
	return ret;
}

int leat_read_home(struct leat_front *front, const struct leat_pair *entry)
{
	const struct leat_value *value = entry->value;
	int ret;

	if (!value)
		return 0;
	if (value->kind == LEAT_VALUE_SCALAR)
		ret = read_policy_word(front, entry);
	else if (value->kind == LEAT_VALUE_LIST || leat_value_get(value, "files") ||
		 leat_value_get(value, "node"))
		ret = read_2023(front, entry);
	else
		ret = read_policies(front, entry);
	return ret ? ret : check_disjoint(front);
}
