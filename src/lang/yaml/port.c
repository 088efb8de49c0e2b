/* The ports of a task of leat YAML. */
#include "lang/yaml/task.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/reader/keys.h"
#include "lang/reader/names.h"
#include "lang/reader/placeholder.h"
#include "lang/reader/rule.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"

enum {
	PORT_FILENAME,
	PORT_DIRNAME,
	PORT_COMMITTED,
	PORT_MODE,
	PORT_DEPS,
	PORT_N_FILES,
	PORT_RETAIN,
	PORT_FREQ,
	PORT_DSETS,
	N_PORT
};

static const struct leat_key port_keys[] = {
	{"filename", LEAT_KEY_TAKEN, PORT_FILENAME},   {"dirname", LEAT_KEY_TAKEN, PORT_DIRNAME},
	{"committed", LEAT_KEY_TAKEN, PORT_COMMITTED}, {"mode", LEAT_KEY_TAKEN, PORT_MODE},
	{"file_deps", LEAT_KEY_TAKEN, PORT_DEPS},      {"files_deps", LEAT_KEY_VARIANT, PORT_DEPS},
	{"n_files", LEAT_KEY_TAKEN, PORT_N_FILES},     {"nfiles", LEAT_KEY_VARIANT, PORT_N_FILES},
	{"retain", LEAT_KEY_TAKEN, PORT_RETAIN},       {"io_freq", LEAT_KEY_TAKEN, PORT_FREQ},
	{"dsets", LEAT_KEY_TAKEN, PORT_DSETS},         {NULL, 0, 0},
};

enum { DSET_NAME, DSET_FILE, DSET_MEMORY, N_DSET };

/* passthru and metadata are how the code of Wilkins has it, file and memory the paper. */
static const struct leat_key dset_keys[] = {
	{"name", LEAT_KEY_TAKEN, DSET_NAME},       {"file", LEAT_KEY_TAKEN, DSET_FILE},
	{"passthru", LEAT_KEY_TAKEN, DSET_FILE},   {"memory", LEAT_KEY_TAKEN, DSET_MEMORY},
	{"metadata", LEAT_KEY_TAKEN, DSET_MEMORY}, {NULL, 0, 0},
};

struct leat_port_text {
	const struct leat_value *node; /* NULL if it cannot be used */
	struct leat_pair slots[N_PORT];
};

/* A port being read. */
struct reading {
	struct leat_front *front;
	size_t step;
	bool in;
	const struct leat_port_text *text;
	struct leat_port port;
};

/* --- Data sets ------------------------------------------------------------------ */

/* One data set, for each of the names that the port has from `names->v[from]` on. */
static int read_dset(struct reading *r, const struct leat_value *node,
		     const struct leat_names *names, size_t from)
{
	struct leat_step *step = &r->front->wf->steps[r->step];
	struct leat_pair slots[N_DSET];
	bool file = false, memory = true, good;
	const char *name;

	if (!leat_keys_read(r->front, node, "a data set", dset_keys, slots, N_DSET))
		return 0;
	if (!slots[DSET_NAME].key)
		leat_key_missing(r->front, node->pos, "name", "a data set");
	name = slots[DSET_NAME].key ? leat_read_text(r->front, &slots[DSET_NAME]) : NULL;
	good = leat_read_switch(r->front, &slots[DSET_FILE], &file);
	good = leat_read_switch(r->front, &slots[DSET_MEMORY], &memory) && good;
	if (good && !file && !memory)
		leat_lang_report(r->front->diags, L_DSET, node->pos,
				 "the data set goes nowhere: set \"file\" or \"memory\" to 1");
	if (!good || !name)
		return 0;
	for (size_t i = from; i < names->n; i++) {
		struct leat_dset *dset =
			leat_step_add_dset(step, &names->v[i], name, slots[DSET_NAME].value->pos);

		if (!dset)
			return -ENOMEM;
		dset->in = r->in;
		dset->file = file;
		dset->memory = memory;
	}
	return 0;
}

static int read_dsets(struct reading *r, const struct leat_names *names, size_t from)
{
	const struct leat_pair *list = &r->text->slots[PORT_DSETS];
	size_t n = leat_read_objects(r->front, list);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = read_dset(r, leat_pair_item(list, i), names, from);
	r->port.has_dsets = n > 0;
	return ret;
}

/* --- How much ---------------------------------------------------------------------- */

static void read_freq(struct reading *r)
{
	const struct leat_pair *entry = &r->text->slots[PORT_FREQ];

	/* As in Wilkins: data sets come version by version. */
	if (r->port.has_dsets)
		r->port.flow = LEAT_FLOW_ALL;
	if (!entry->key)
		return;
	r->port.freq = entry->key->pos;
	leat_read_freq(r->front, entry, &r->port.flow, &r->port.every);
}

/* --- Ports ---------------------------------------------------------------------------- */

static int add_ports(struct leat_ports *ports, const struct leat_port *port, size_t n)
{
	struct leat_port *v = reallocarray(ports->v, ports->n + n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	ports->v = v;
	while (n-- > 0)
		v[ports->n++] = *port;
	return 0;
}

static bool read_keys(struct leat_front *front, const struct leat_value *node, const char *where,
		      struct leat_port_text *text)
{
	if (!leat_keys_read(front, node, where, port_keys, text->slots, N_PORT))
		return false;
	text->node = node;
	if (!text->slots[PORT_FILENAME].key == !text->slots[PORT_DIRNAME].key) {
		leat_lang_report(front->diags, L_RULE_NAMES, node->pos,
				 "a port needs either \"filename\" or \"dirname\"");
		text->node = NULL;
	}
	return text->node;
}

static int read_port(struct reading *r, struct leat_names *names, struct leat_ports *ports)
{
	const struct leat_pair *slots = r->text->slots;
	const struct leat_pair *file = &slots[PORT_FILENAME], *dir = &slots[PORT_DIRNAME];
	size_t from = names->n;
	int ret = leat_read_names(r->front, file->key ? file : dir, LEAT_NAMES_ONE_OK, names);

	for (size_t i = from; i < names->n; i++)
		leat_refuse_placeholders(r->front, names->v[i].text, names->v[i].pos);
	r->port = (struct leat_port){.is_dir = dir->key != NULL};
	if (!ret)
		ret = read_dsets(r, names, from);
	if (!ret && r->in)
		read_freq(r);
	return ret ? ret : add_ports(ports, &r->port, names->n - from);
}

/* A rule belongs to who writes, the flow to who reads. */
static void refuse_keys(struct leat_front *front, const struct leat_port_text *text, bool in)
{
	for (int slot = PORT_COMMITTED; in && slot <= PORT_RETAIN; slot++)
		if (text->slots[slot].key)
			leat_lang_report(
				front->diags, L_RULE_ON_INPUT, text->slots[slot].key->pos,
				"\"%s\" belongs to the outport of the task that writes the file",
				text->slots[slot].key->text);
	if (!in && text->slots[PORT_FREQ].key)
		leat_lang_report(
			front->diags, L_IO_FREQ, text->slots[PORT_FREQ].key->pos,
			"\"io_freq\" belongs to the inport of the task that reads the file");
}

int leat_read_inports(struct leat_front *front, size_t step, const struct leat_pair *list,
		      struct leat_lang_task *task)
{
	size_t n = leat_read_objects(front, list);
	struct leat_port_text text;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		struct reading r = {.front = front, .step = step, .in = true, .text = &text};

		if (!read_keys(front, leat_pair_item(list, i), "an inport", &text))
			continue;
		refuse_keys(front, &text, true);
		ret = read_port(&r, &front->wf->steps[step].inputs, &task->in);
	}
	return ret;
}

int leat_read_outports(struct leat_front *front, size_t step, const struct leat_pair *list,
		       struct leat_lang_task *task)
{
	size_t n = leat_read_objects(front, list);
	int ret = 0;

	if (!n)
		return 0;
	task->texts = calloc(n, sizeof(*task->texts));
	if (!task->texts)
		return -ENOMEM;
	task->n_texts = n;
	for (size_t i = 0; !ret && i < n; i++) {
		struct reading r = {.front = front, .step = step, .text = &task->texts[i]};

		if (!read_keys(front, leat_pair_item(list, i), "an outport", &task->texts[i]))
			continue;
		refuse_keys(front, &task->texts[i], false);
		ret = read_port(&r, &front->wf->steps[step].outputs, &task->out);
	}
	return ret;
}

/* A rule where the port says more than a file's name. */
static int read_port_rule(struct leat_front *front, size_t step, const struct leat_port_text *port)
{
	const struct leat_pair *slots = port->slots;
	struct leat_rule_text text = {.name_key = "filename"};
	bool given = slots[PORT_DIRNAME].key != NULL;

	for (int slot = PORT_COMMITTED; slot <= PORT_RETAIN; slot++)
		given |= slots[slot].key != NULL;
	if (!port->node || !given)
		return 0;
	text.pos = port->node->pos;
	text.name = slots[PORT_FILENAME];
	text.dirname = slots[PORT_DIRNAME];
	text.committed = slots[PORT_COMMITTED];
	text.mode = slots[PORT_MODE];
	text.deps = slots[PORT_DEPS];
	text.n_files = slots[PORT_N_FILES];
	text.retain = slots[PORT_RETAIN];
	return leat_read_rule(front, step, &text);
}

int leat_read_port_rules(struct leat_front *front, size_t step, const struct leat_lang_task *task)
{
	int ret = 0;

	leat_diags_set_subject(front->diags, "task", front->wf->steps[step].name);
	for (size_t i = 0; !ret && i < task->n_texts; i++)
		ret = read_port_rule(front, step, &task->texts[i]);
	leat_diags_set_subject(front->diags, NULL, NULL);
	return ret;
}

/* Let each of the names have a port. */
static int complete(struct leat_ports *ports, const struct leat_names *names)
{
	const struct leat_port plain = {.is_dir = false};
	int ret = add_ports(ports, &plain, names->n - ports->n);

	for (size_t i = 0; !ret && i < names->n; i++)
		ports->v[i].literal = strcspn(names->v[i].text, "*?[");
	return ret;
}

int leat_task_complete(struct leat_lang_task *task, const struct leat_step *step)
{
	int ret = complete(&task->in, &step->inputs);

	return ret ? ret : complete(&task->out, &step->outputs);
}

void leat_task_release(struct leat_lang_task *task)
{
	for (size_t i = 0; i < task->in.n; i++)
		free(task->in.v[i].links);
	free(task->in.v);
	free(task->out.v);
	free(task->texts);
}
