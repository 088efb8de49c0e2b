/* leat's own keys in CAPIO-CL for what ensembles and their ports have. A person writes leat YAML;
 * this is how its model is written down. */
#include "lang/capio/own.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/reader/container.h"
#include "lang/reader/extension.h"
#include "lang/reader/keys.h"
#include "lang/reader/names.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

enum { INPORT_SEEN, INPORT_FREQ, INPORT_SOURCES, N_INPORT };

static const struct leat_key inport_keys[] = {
	{"seen", LEAT_KEY_TAKEN, INPORT_SEEN},
	{"io_freq", LEAT_KEY_TAKEN, INPORT_FREQ},
	{"sources", LEAT_KEY_TAKEN, INPORT_SOURCES},
	{NULL, 0, 0},
};

enum { SOURCE_STEP, SOURCE_MADE, N_SOURCE };

static const struct leat_key source_keys[] = {
	{"step", LEAT_KEY_TAKEN, SOURCE_STEP},
	{"made", LEAT_KEY_TAKEN, SOURCE_MADE},
	{NULL, 0, 0},
};

enum { DSET_INPORT, DSET_OUTPORT, DSET_NAME, DSET_FILE, DSET_MEMORY, N_DSET };

static const struct leat_key dset_keys[] = {
	{"inport", LEAT_KEY_TAKEN, DSET_INPORT}, {"outport", LEAT_KEY_TAKEN, DSET_OUTPORT},
	{"name", LEAT_KEY_TAKEN, DSET_NAME},     {"file", LEAT_KEY_TAKEN, DSET_FILE},
	{"memory", LEAT_KEY_TAKEN, DSET_MEMORY}, {NULL, 0, 0},
};

/* --- Single values ------------------------------------------------------------------------- */

/* A path into *out, which it replaces; untouched if absent or reported. */
static int read_path(struct leat_front *front, const struct leat_pair *entry, char **out)
{
	const char *text = entry->value ? leat_read_text(front, entry) : NULL;
	char *path;
	int ret = text ? leat_path_normal(front, text, entry->value->pos, &path) : 0;

	if (!text || ret || !path)
		return ret;
	free(*out);
	*out = path;
	return 0;
}

/* Instances have directories, and only they. */
static void check_instance(struct leat_front *front, const struct leat_step *step)
{
	if (step->instance >= step->ensemble || (step->ensemble > 1) != (step->dir != NULL) ||
	    (step->dir && leat_pattern_is_wild(step->dir)))
		leat_lang_report(front->diags, L_PORT_OWN, step->pos,
				 "\"instance\" must be less than \"ensemble\", and only one of "
				 "several instances has a \"dir\"");
	if (step->nwriters > step->nprocs)
		leat_lang_report(front->diags, L_NUMBER, step->pos,
				 "\"nwriters\" is greater than \"nprocs\"");
}

static int read_task(struct leat_front *front, struct leat_step *step, const struct leat_pair *own)
{
	const struct leat_pair *entry = &own[LEAT_OWN_TASK];
	const char *text = entry->value ? leat_read_text(front, entry) : NULL;
	char *task = text ? strdup(text) : NULL;

	if (text && !task)
		return -ENOMEM;
	if (task) {
		free(step->task);
		step->task = task;
	}
	return read_path(front, &own[LEAT_OWN_DIR], &step->dir);
}

static void read_numbers(struct leat_front *front, struct leat_step *step,
			 const struct leat_pair *own)
{
	const struct {
		enum leat_own_key key;
		unsigned min, *value;
	} numbers[] = {
		{LEAT_OWN_INSTANCE, 0, &step->instance},
		{LEAT_OWN_ENSEMBLE, 1, &step->ensemble},
		{LEAT_OWN_NPROCS, 1, &step->nprocs},
		{LEAT_OWN_NWRITERS, 1, &step->nwriters},
	};
	bool relaunch;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (own[numbers[i].key].value)
			leat_read_number(front, &own[numbers[i].key], numbers[i].min, INT_MAX,
					 numbers[i].value);
	if (own[LEAT_OWN_RELAUNCH].value &&
	    leat_read_bool(front, &own[LEAT_OWN_RELAUNCH], &relaunch))
		step->relaunch = relaunch ? LEAT_RELAUNCH_ALWAYS : LEAT_RELAUNCH_NEVER;
}

/* --- Data sets ------------------------------------------------------------------------------- */

static int read_dset(struct leat_front *front, struct leat_step *step,
		     const struct leat_value *node)
{
	struct leat_pair slots[N_DSET];
	const struct leat_pair *end;
	struct leat_name port = {.text = NULL};
	struct leat_dset *dset = NULL;
	const char *name;
	int ret;

	if (!leat_keys_read(front, node, "a data set", dset_keys, slots, N_DSET))
		return 0;
	end = slots[DSET_INPORT].key ? &slots[DSET_INPORT] : &slots[DSET_OUTPORT];
	if (!end->key || !slots[DSET_NAME].key) {
		leat_key_missing(front, node->pos, end->key ? "name" : "outport", "a data set");
		return 0;
	}
	ret = read_path(front, end, &port.text);
	port.pos = end->value->pos;
	name = leat_read_text(front, &slots[DSET_NAME]);
	if (!ret && port.text && name) {
		dset = leat_step_add_dset(step, &port, name, slots[DSET_NAME].value->pos);
		ret = dset ? 0 : -ENOMEM;
	}
	free(port.text);
	if (!dset)
		return ret;
	dset->in = end == &slots[DSET_INPORT];
	leat_read_switch(front, &slots[DSET_FILE], &dset->file);
	leat_read_switch(front, &slots[DSET_MEMORY], &dset->memory);
	return 0;
}

int leat_read_own(struct leat_front *front, size_t step, const struct leat_pair *own)
{
	struct leat_step *model = &front->wf->steps[step];
	struct leat_container_keys container = {.image = NULL};
	size_t n = leat_read_objects(front, &own[LEAT_OWN_DSETS]);
	int ret = read_task(front, model, own);

	read_numbers(front, model, own);
	check_instance(front, model);
	if (!ret && own[LEAT_OWN_ACTIONS].value)
		ret = leat_read_actions(front, &own[LEAT_OWN_ACTIONS], model);
	if (!ret)
		ret = leat_read_container(front, &own[LEAT_OWN_CONTAINER], &own[LEAT_OWN_ENGINE],
					  &container);
	if (!ret)
		ret = leat_set_container(front, &own[LEAT_OWN_ENGINE], &container, model);
	if (!ret)
		ret = leat_read_names(front, &own[LEAT_OWN_PRIVATE], 0, &model->private);
	if (!ret)
		ret = leat_read_needs(front, &own[LEAT_OWN_NEEDS], model);
	for (size_t i = 0; !ret && i < n; i++)
		ret = read_dset(front, model, leat_pair_item(&own[LEAT_OWN_DSETS], i));
	return ret;
}

/* --- Inports ----------------------------------------------------------- */

static int read_source(struct leat_front *front, struct leat_step *step, struct leat_inport *inport,
		       const struct leat_value *node)
{
	struct leat_pair slots[N_SOURCE];
	const struct leat_lookup *known;
	const char *name;
	char *made = NULL;
	int ret;

	if (!leat_keys_read(front, node, "a source", source_keys, slots, N_SOURCE))
		return 0;
	for (int i = 0; i < N_SOURCE; i++)
		if (!slots[i].key)
			leat_key_missing(front, node->pos, source_keys[i].name, "a source");
	if (!slots[SOURCE_STEP].key || !slots[SOURCE_MADE].key)
		return 0;
	name = leat_read_text(front, &slots[SOURCE_STEP]);
	known = name ? leat_lookup_find(front->steps, name) : NULL;
	if (name && !known)
		leat_step_unknown(front, name, slots[SOURCE_STEP].value->pos);
	ret = read_path(front, &slots[SOURCE_MADE], &made);
	if (made && known && (!leat_names_has(&step->inputs, made) || !strcmp(step->name, name)))
		leat_lang_report(front->diags, L_PORT_OWN, slots[SOURCE_MADE].value->pos,
				 "\"%s\" must be an input of \"%s\" that another step produces",
				 made, step->name);
	if (!ret && made && known)
		ret = leat_inport_add_source(inport, (int)known->index, made);
	free(made);
	return ret;
}

static int read_inport(struct leat_front *front, struct leat_step *step,
		       const struct leat_value *node)
{
	struct leat_pair slots[N_INPORT];
	struct leat_inport *inport;
	char *seen = NULL;
	size_t n;
	int ret;

	if (!leat_keys_read(front, node, "an inport", inport_keys, slots, N_INPORT))
		return 0;
	if (!slots[INPORT_SEEN].key)
		leat_key_missing(front, node->pos, "seen", "an inport");
	ret = read_path(front, &slots[INPORT_SEEN], &seen);
	if (ret || !seen)
		return ret;
	inport = leat_step_add_inport(step, seen, slots[INPORT_SEEN].value->pos);
	free(seen);
	if (!inport)
		return -ENOMEM;
	if (slots[INPORT_FREQ].key)
		leat_read_freq(front, &slots[INPORT_FREQ], &inport->flow, &inport->every);
	n = leat_read_objects(front, &slots[INPORT_SOURCES]);
	for (size_t i = 0; !ret && i < n; i++)
		ret = read_source(front, step, inport, leat_pair_item(&slots[INPORT_SOURCES], i));
	if (inport->flow == LEAT_FLOW_BATCH ? n > 1 : !n)
		leat_lang_report(
			front->diags, L_PORT_OWN, node->pos,
			"an inport with \"io_freq\" needs sources, one without it has at most one");
	return ret;
}

int leat_read_own_inports(struct leat_front *front, size_t step, const struct leat_pair *entry)
{
	size_t n = leat_read_objects(front, entry);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = read_inport(front, &front->wf->steps[step], leat_pair_item(entry, i));
	return ret;
}
