/* Linking the ports of tasks by the names of their files and data sets. */
#include "lang/yaml/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/diagnostics.h"
#include "model/match.h"
#include "model/pairing.h"

/* --- Links ------------------------------------------------------------------------------ */

/* What one task makes is one source of it, under the widest of its names. */
static int add_link(struct leat_port *port, const struct leat_lang_link *link)
{
	struct leat_lang_link *v;

	for (size_t i = 0; i < port->n_links; i++) {
		struct leat_lang_link *known = &port->links[i];

		if (known->task != link->task)
			continue;
		if (leat_pattern_match(known->text, link->text))
			return 0;
		if (leat_pattern_match(link->text, known->text)) {
			*known = *link;
			return 0;
		}
	}
	v = reallocarray(port->links, port->n_links + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	port->links = v;
	v[port->n_links++] = *link;
	return 0;
}

/* Find the outputs of task `u` that input `i` of task `t` is linked to. */
static int link_input_to(const struct leat_workflow *wf, struct leat_lang_tasks *tasks, size_t t,
			 size_t i, size_t u)
{
	const struct leat_step *reader = &wf->steps[t], *writer = &wf->steps[u];
	struct leat_port *in = &tasks->v[t].in.v[i];
	const char *input = reader->inputs.v[i].text;
	int ret = 0;

	for (size_t o = 0; !ret && o < writer->outputs.n; o++) {
		const struct leat_port *out = &tasks->v[u].out.v[o];
		const char *output = writer->outputs.v[o].text;
		size_t literal = out->literal < in->literal ? out->literal : in->literal;
		struct leat_lang_link link = {u, o, NULL};

		/* Most names differ in the first characters. */
		if (strncmp(output, input, literal) != 0 ||
		    !leat_ports_meet(output, out->is_dir, input, in->is_dir))
			continue;
		/* A task is not linked to itself. */
		if (t == u) {
			in->own |= leat_pattern_match(output, input) ||
				   leat_pattern_covers(output, input);
		} else if (leat_dsets_meet(reader, input, writer, output)) {
			link.text = leat_ports_narrower(output, out->is_dir, input);
			ret = add_link(in, &link);
		}
	}
	return ret;
}

static int find_links(const struct leat_workflow *wf, struct leat_lang_tasks *tasks)
{
	int ret = 0;

	for (size_t t = 0; t < tasks->n; t++)
		for (size_t i = 0; i < tasks->v[t].in.n; i++)
			for (size_t u = 0; !ret && u < tasks->n; u++)
				ret = link_input_to(wf, tasks, t, i, u);
	return ret;
}

/* --- How much of each input --------------------------------------------------------------- */

/* True if one instance of task `t` has several instances of one task behind the input. */
static bool has_several(const struct leat_lang_tasks *tasks, size_t t, const struct leat_port *in)
{
	for (size_t l = 0; l < in->n_links; l++)
		if (leat_pairing_most(tasks->v[in->links[l].task].count, tasks->v[t].count) > 1)
			return true;
	return false;
}

/* True if what the links give has names that differ. */
static bool are_apart(const struct leat_port *in)
{
	for (size_t a = 0; a < in->n_links; a++)
		for (size_t b = 0; b < a; b++)
			if (leat_ports_meet(in->links[a].text, false, in->links[b].text, false))
				return false;
	return true;
}

/* True if the links are one file in the workflow's directory, that several tasks make. */
static bool are_one(const struct leat_lang_tasks *tasks, const struct leat_port *in)
{
	for (size_t l = 0; l < in->n_links; l++)
		if (tasks->v[in->links[l].task].count > 1 ||
		    strcmp(in->links[l].text, in->links[0].text))
			return false;
	return true;
}

/* Files of several sources that have one name at the consumer are shown one after the other. */
static void decide_flow(const struct leat_lang_tasks *tasks, size_t t, struct leat_port *in)
{
	if (!in->n_links)
		in->flow = LEAT_FLOW_BATCH;
	if (in->flow != LEAT_FLOW_BATCH || !leat_port_has_ensemble(tasks, t, in) || !in->n_links)
		return;
	if (has_several(tasks, t, in))
		in->flow = LEAT_FLOW_ALL;
	else if (in->n_links > 1 && are_one(tasks, in))
		in->n_links = 1;
	else if (in->n_links > 1 && are_apart(in))
		in->apart = true;
	else if (in->n_links > 1)
		in->flow = LEAT_FLOW_ALL;
}

static void decide_flows(struct leat_lang_tasks *tasks)
{
	for (size_t t = 0; t < tasks->n; t++) {
		for (size_t i = 0; i < tasks->v[t].in.n; i++) {
			struct leat_port *in = &tasks->v[t].in.v[i];

			decide_flow(tasks, t, in);
			for (size_t l = 0; in->flow != LEAT_FLOW_BATCH && l < in->n_links; l++) {
				const struct leat_lang_link *link = &in->links[l];
				struct leat_port *out = &tasks->v[link->task].out.v[link->port];

				if (out->versioned)
					continue;
				out->versioned = true;
				out->reader = t;
				out->reader_input = i;
			}
		}
	}
}

/* --- Rules of outputs that have versions ------------------------------------------------------ */

/* The step's own rule for an output, or NULL: by the same name, else the most specific. */
static struct leat_rule *find_rule(struct leat_step *step, const char *output)
{
	struct leat_rule *best = NULL;

	for (size_t r = 0; r < step->n_rules; r++) {
		struct leat_rule *rule = &step->rules[r];

		if (!strcmp(rule->name.text, output))
			return rule;
		if ((leat_pattern_overlap(rule->name.text, output) ||
		     (rule->is_dir && leat_pattern_covers(rule->name.text, output))) &&
		    (!best || leat_pattern_compare(rule->name.text, best->name.text) > 0))
			best = rule;
	}
	return best;
}

/* What of the rule makes no sense for versions, or NULL. */
static const char *why_not(const struct leat_rule *rule, char buffer[32])
{
	if (rule->commit_pos.line && rule->commit != LEAT_COMMIT_ON_CLOSE)
		return leat_commit_text(rule->commit, rule->count, buffer);
	if (rule->n_files)
		return "n_files";
	return rule->drop ? "retain: false" : NULL;
}

/* A version is complete when it is closed. */
static int give_rule(struct leat_front *front, struct leat_step *step, size_t o,
		     const struct leat_port *out)
{
	const struct leat_name *output = &step->outputs.v[o];
	const struct leat_step *reader = &front->wf->steps[out->reader];
	struct leat_rule *rule = find_rule(step, output->text);
	enum leat_fire fire = rule ? rule->fire : LEAT_FIRE_ON_COMMIT;
	char buffer[32];
	const char *why = rule ? why_not(rule, buffer) : NULL;

	if (why) {
		leat_lang_report(front->diags, L_PORT_RULE,
				 rule->commit_pos.line ? rule->commit_pos : rule->name.pos,
				 "\"%s\" is complete at each close, because \"%s\" reads it "
				 "version by version (line %d): remove %s",
				 output->text, reader->name,
				 reader->inputs.v[out->reader_input].pos.line, why);
		return 0;
	}
	if (rule && rule->commit_pos.line)
		return 0;
	if (!rule || strcmp(rule->name.text, output->text)) {
		rule = leat_step_add_rule(step, output->text, output->pos);
		if (!rule)
			return -ENOMEM;
		rule->is_dir = out->is_dir;
		rule->fire = fire;
	}
	rule->commit = LEAT_COMMIT_ON_CLOSE;
	rule->count = 0;
	return 0;
}

static int give_rules(struct leat_front *front, const struct leat_lang_tasks *tasks)
{
	int ret = 0;

	for (size_t t = 0; t < tasks->n; t++) {
		leat_diags_set_subject(front->diags, "task", front->wf->steps[t].name);
		for (size_t o = 0; !ret && o < tasks->v[t].out.n; o++)
			if (tasks->v[t].out.v[o].versioned)
				ret = give_rule(front, &front->wf->steps[t], o,
						&tasks->v[t].out.v[o]);
	}
	leat_diags_set_subject(front->diags, NULL, NULL);
	return ret;
}

/* Workflows without any of this may have thousands of names. */
static bool needs_links(const struct leat_lang_tasks *tasks)
{
	for (size_t t = 0; t < tasks->n; t++) {
		const struct leat_lang_task *task = &tasks->v[t];
		bool any = task->count > 1;

		for (size_t i = 0; i < task->in.n; i++)
			any |= task->in.v[i].flow != LEAT_FLOW_BATCH;
		for (size_t o = 0; o < task->out.n; o++)
			any |= task->out.v[o].has_dsets;
		if (any)
			return true;
	}
	return false;
}

int leat_tasks_link(struct leat_front *front, struct leat_lang_tasks *tasks)
{
	int ret = 0;

	if (needs_links(tasks)) {
		ret = find_links(front->wf, tasks);
		if (ret)
			return ret;
		decide_flows(tasks);
		ret = leat_links_check(front, tasks);
		leat_dsets_check(front, tasks);
		if (!ret)
			ret = give_rules(front, tasks);
	}
	leat_filenames_check(front, tasks);
	return ret;
}
