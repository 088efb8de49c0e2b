/* The graph as text, for Graphviz and as JSON. */
#include "lang/output/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* --- Text ------------------------------------------------------------------ */

static void put_steps(const struct leat_graph *g, FILE *out, const char *before,
		      const uint64_t *set)
{
	const char *joint = before;

	for (size_t s = 0; s < g->wf->n_steps; s++) {
		if (!leat_steps_has(set, (int)s))
			continue;
		fprintf(out, "%s%s", joint, g->wf->steps[s].name);
		joint = ", ";
	}
}

/* The rule of an output: "on_close:2, no_update, after x, y". */
static void put_rule(FILE *out, const struct leat_file_rule *rule)
{
	char commit[32];

	fputs(leat_commit_text(rule->commit, rule->count, commit), out);
	for (size_t i = 0; rule->deps && i < rule->deps->n; i++)
		fprintf(out, "%s%s", i ? " and " : " ", rule->deps->v[i].text);
	fprintf(out, ", %s", leat_fire_text(rule->fire));
	if (rule->n_files && rule->commit != LEAT_COMMIT_N_FILES)
		fprintf(out, ", complete at %u files", rule->n_files);
}

static const struct leat_graph_file *file_of(const struct leat_graph *g, const char *text)
{
	const struct leat_graph_file *file;

	HASH_FIND_STR(g->files, text, file);
	return file;
}

static void text_input(const struct leat_graph *g, FILE *out, const char *text, int width)
{
	const struct leat_graph_file *file = file_of(g, text);

	fprintf(out, "  reads   %-*s", width, text);
	if (file->rule->excluded)
		fputs("  excluded", out);
	else if (leat_graph_any(g, file->producers))
		put_steps(g, out, "  from ", file->producers);
	else
		fputs("  from outside", out);
	fputc('\n', out);
}

static void text_output(const struct leat_graph *g, FILE *out, const char *text, int width)
{
	const struct leat_graph_file *file = file_of(g, text);

	fprintf(out, "  writes  %-*s", width, text);
	if (file->rule->excluded) {
		fputs("  excluded\n", out);
		return;
	}
	if (leat_graph_any(g, file->consumers))
		put_steps(g, out, "  to ", file->consumers);
	else
		fputs("  to nobody", out);
	fputs("  (", out);
	put_rule(out, file->rule);
	fprintf(out, "%s%s)\n", file->rule->permanent ? ", permanent" : "",
		file->rule->storage == LEAT_STORAGE_FS ? ", on the file system" : "");
}

/* "all", "every 3rd", "latest"; nothing for a file that is taken as a whole. */
static void put_flow(FILE *out, const struct leat_inport *inport)
{
	unsigned n = inport->every;
	const char *end = n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";

	if (inport->flow == LEAT_FLOW_ALL)
		fputs("all", out);
	else if (inport->flow == LEAT_FLOW_LATEST)
		fputs("latest", out);
	else if (inport->flow == LEAT_FLOW_SOME)
		fprintf(out, "every %u%s", n, n / 10 % 10 == 1 ? "th" : end);
}

/* What the step sees under another name, or in steps. */
static void text_inport(const struct leat_graph *g, FILE *out, const struct leat_inport *inport,
			int width)
{
	fprintf(out, "  sees    %-*s  ", width, inport->seen.text);
	put_flow(out, inport);
	if (inport->flow != LEAT_FLOW_BATCH)
		fputs(", ", out);
	for (size_t i = 0; i < inport->n_sources; i++)
		fprintf(out, "%s%s", i ? ", " : "from ",
			g->wf->steps[inport->sources[i].step].name);
	fputs(inport->n_sources ? "\n" : "from outside\n", out);
}

static void text_dset(FILE *out, const struct leat_dset *dset)
{
	fprintf(out, "  %s  %s of %s: %s%s%s\n", dset->in ? "gets  " : "gives ", dset->name.text,
		dset->port.text, dset->memory ? "memory" : "",
		dset->memory && dset->file ? ", " : "", dset->file ? "file" : "");
}

/* Width of the longest name of the step, within reason. */
static int names_width(const struct leat_step *step)
{
	const struct leat_names *lists[] = {&step->inputs, &step->outputs};
	size_t width = 8;

	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->n; i++) {
			size_t length = strlen(lists[l]->v[i].text);

			if (length > width)
				width = length;
		}
	return width < 40 ? (int)width : 40;
}

void leat_graph_write_step(const struct leat_graph *g, size_t step, FILE *out)
{
	const struct leat_step *model = &g->wf->steps[step];
	int width = names_width(model);

	for (size_t i = 0; i < model->inputs.n; i++)
		text_input(g, out, model->inputs.v[i].text, width);
	for (size_t i = 0; i < model->outputs.n; i++)
		text_output(g, out, model->outputs.v[i].text, width);
	for (size_t i = 0; i < model->n_inports; i++)
		text_inport(g, out, &model->inports[i], width);
	for (size_t i = 0; i < model->n_dsets; i++)
		text_dset(out, &model->dsets[i]);
}

void leat_graph_text(const struct leat_graph *g, FILE *out)
{
	if (g->wf->name)
		fprintf(out, "workflow %s\n", g->wf->name);
	for (size_t s = 0; s < g->wf->n_steps; s++) {
		const struct leat_step *step = &g->wf->steps[s];

		fprintf(out, "\nstep %s%s", step->name, step->staged ? " (staged)" : "");
		if (step->ensemble > 1)
			fprintf(out, " (%u of %u of %s)", step->instance, step->ensemble,
				step->task);
		fputc('\n', out);
		leat_graph_write_step(g, s, out);
	}
}

/* --- Graphviz --------------------------------------------------------------- */

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void dot_rule(FILE *out, const struct leat_file_rule *rule)
{
	char *text = NULL;
	size_t size = 0;
	FILE *label = rule->excluded ? NULL : open_memstream(&text, &size);

	if (label) {
		put_rule(label, rule);
		fclose(label);
	}
	if (text) {
		fputs(" [label=", out);
		put_quoted(out, text);
		fputc(']', out);
	}
	free(text);
	fputs(";\n", out);
}

/* An input, with how much of it the step gets. */
static void dot_input(FILE *out, const struct leat_graph_file *file, const struct leat_step *step,
		      size_t s)
{
	const struct leat_inport *inport = leat_graph_inport(step, file->text);

	fprintf(out, "  f%zu -> s%zu", file->number, s);
	if (inport && inport->flow != LEAT_FLOW_BATCH) {
		fputs(" [label=\"", out);
		put_flow(out, inport);
		fputs("\"]", out);
	}
	fputs(";\n", out);
}

static void dot_step(FILE *out, const struct leat_step *step, size_t s)
{
	fprintf(out, "%s  s%zu [shape=box, label=", step->ensemble > 1 ? "  " : "", s);
	put_quoted(out, step->name);
	fprintf(out, "%s];\n", step->staged ? ", style=dashed" : "");
}

static bool same_ensemble(const struct leat_step *a, const struct leat_step *b)
{
	return a->ensemble > 1 && a->ensemble == b->ensemble && !strcmp(a->task, b->task);
}

/* A box, or, for the first instance of an ensemble, a frame with all of them. */
static void dot_box(const struct leat_graph *g, FILE *out, size_t s)
{
	const struct leat_step *steps = g->wf->steps;

	for (size_t k = s; k-- > 0;)
		if (same_ensemble(&steps[k], &steps[s]))
			return;
	if (steps[s].ensemble == 1) {
		dot_step(out, &steps[s], s);
		return;
	}
	fprintf(out, "  subgraph cluster_s%zu {\n    label=", s);
	put_quoted(out, steps[s].task);
	fputs(";\n", out);
	for (size_t k = s; k < g->wf->n_steps; k++)
		if (same_ensemble(&steps[k], &steps[s]))
			dot_step(out, &steps[k], k);
	fputs("  }\n", out);
}

static void dot_file(const struct leat_graph *g, FILE *out, const struct leat_graph_file *file)
{
	fprintf(out, "  f%zu [shape=ellipse, label=", file->number);
	put_quoted(out, file->text);
	if (file->wild)
		fputs(", style=dashed", out);
	if (file->rule->excluded)
		fputs(", color=gray, fontcolor=gray", out);
	else if (file->rule->permanent)
		fputs(", peripheries=2", out);
	fputs("];\n", out);
	for (size_t s = 0; s < g->wf->n_steps; s++) {
		if (leat_steps_has(file->writers, (int)s)) {
			fprintf(out, "  s%zu -> f%zu", s, file->number);
			dot_rule(out, file->rule);
		}
		if (leat_steps_has(file->readers, (int)s))
			dot_input(out, file, &g->wf->steps[s], s);
	}
}

void leat_graph_dot(const struct leat_graph *g, FILE *out)
{
	const struct leat_graph_file *file, *next;

	fputs("digraph ", out);
	put_quoted(out, g->wf->name ? g->wf->name : "workflow");
	fputs(" {\n  rankdir=LR;\n", out);
	for (size_t s = 0; s < g->wf->n_steps; s++)
		dot_box(g, out, s);
	HASH_ITER(hh, g->files, file, next)
	{
		dot_file(g, out, file);
	}
	for (size_t i = 0; i < g->n_matches; i++)
		fprintf(out, "  f%zu -> f%zu [style=dashed];\n", g->matches[i].output->number,
			g->matches[i].input->number);
	fputs("}\n", out);
}

/* --- JSON ---------------------------------------------------------------------- */

static void json_id(struct leat_json *j, const char *key, char kind, size_t number)
{
	char id[32];

	snprintf(id, sizeof(id), "%c%zu", kind, number);
	leat_json_string(j, key, id);
}

static void json_edge(struct leat_json *j, const char *kind, char from, size_t n_from, char to,
		      size_t n_to)
{
	leat_json_object(j, NULL, true);
	json_id(j, "from", from, n_from);
	json_id(j, "to", to, n_to);
	leat_json_string(j, "kind", kind);
}

static void json_rule(struct leat_json *j, const struct leat_file_rule *rule)
{
	char commit[32];

	leat_json_string(j, "committed", leat_commit_text(rule->commit, rule->count, commit));
	leat_json_string(j, "mode", leat_fire_text(rule->fire));
	if (rule->n_files)
		leat_json_number(j, "n_files", rule->n_files);
	if (!rule->deps)
		return;
	leat_json_list(j, "file_deps", true);
	for (size_t i = 0; i < rule->deps->n; i++)
		leat_json_string(j, NULL, rule->deps->v[i].text);
	leat_json_close(j);
}

static void json_inports(struct leat_json *j, const struct leat_step *step)
{
	static const char *const flows[] = {"batch", "all", "some", "latest"};

	if (!step->n_inports)
		return;
	leat_json_list(j, "inports", true);
	for (size_t i = 0; i < step->n_inports; i++) {
		const struct leat_inport *inport = &step->inports[i];

		leat_json_object(j, NULL, true);
		leat_json_string(j, "seen", inport->seen.text);
		leat_json_string(j, "flow", flows[inport->flow]);
		if (inport->every)
			leat_json_number(j, "every", inport->every);
		leat_json_list(j, "sources", true);
		for (size_t s = 0; s < inport->n_sources; s++) {
			leat_json_object(j, NULL, true);
			json_id(j, "step", 's', (size_t)inport->sources[s].step);
			leat_json_string(j, "made", inport->sources[s].made);
			leat_json_close(j);
		}
		leat_json_close(j);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void json_dsets(struct leat_json *j, const struct leat_step *step)
{
	if (!step->n_dsets)
		return;
	leat_json_list(j, "dsets", true);
	for (size_t i = 0; i < step->n_dsets; i++) {
		const struct leat_dset *dset = &step->dsets[i];

		leat_json_object(j, NULL, true);
		leat_json_string(j, dset->in ? "inport" : "outport", dset->port.text);
		leat_json_string(j, "name", dset->name.text);
		leat_json_bool(j, "file", dset->file);
		leat_json_bool(j, "memory", dset->memory);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void json_step(struct leat_json *j, const struct leat_step *step, size_t s)
{
	leat_json_object(j, NULL, true);
	json_id(j, "id", 's', s);
	leat_json_string(j, "kind", "step");
	leat_json_string(j, "name", step->name);
	leat_json_bool(j, "staged", step->staged);
	if (step->container)
		leat_json_string(j, "container", step->container);
	if (step->ensemble > 1) {
		leat_json_string(j, "task", step->task);
		leat_json_number(j, "instance", step->instance);
		leat_json_number(j, "ensemble", step->ensemble);
		leat_json_string(j, "dir", step->dir);
	}
	json_inports(j, step);
	json_dsets(j, step);
	leat_json_close(j);
}

static void json_nodes(const struct leat_graph *g, struct leat_json *j)
{
	const struct leat_graph_file *file, *next;

	leat_json_list(j, "nodes", false);
	for (size_t s = 0; s < g->wf->n_steps; s++)
		json_step(j, &g->wf->steps[s], s);
	HASH_ITER(hh, g->files, file, next)
	{
		leat_json_object(j, NULL, true);
		json_id(j, "id", 'f', file->number);
		leat_json_string(j, "kind", file->wild ? "pattern" : "file");
		leat_json_string(j, "name", file->text);
		leat_json_bool(j, "permanent", file->rule->permanent);
		leat_json_bool(j, "excluded", file->rule->excluded);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void json_edges(const struct leat_graph *g, struct leat_json *j)
{
	const struct leat_graph_file *file, *next;

	leat_json_list(j, "edges", false);
	HASH_ITER(hh, g->files, file, next)
	{
		for (size_t s = 0; s < g->wf->n_steps; s++) {
			if (leat_steps_has(file->writers, (int)s)) {
				json_edge(j, "output", 's', s, 'f', file->number);
				if (!file->rule->excluded)
					json_rule(j, file->rule);
				leat_json_close(j);
			}
			if (leat_steps_has(file->readers, (int)s)) {
				json_edge(j, "input", 'f', file->number, 's', s);
				leat_json_close(j);
			}
		}
	}
	for (size_t i = 0; i < g->n_matches; i++) {
		json_edge(j, "match", 'f', g->matches[i].output->number, 'f',
			  g->matches[i].input->number);
		leat_json_close(j);
	}
	leat_json_close(j);
}

void leat_graph_json(const struct leat_graph *g, FILE *out)
{
	struct leat_json j = {.out = out};

	leat_json_object(&j, NULL, false);
	if (g->wf->name)
		leat_json_string(&j, "name", g->wf->name);
	json_nodes(g, &j);
	json_edges(g, &j);
	leat_json_close(&j);
}

int leat_graph_write(const struct leat_workflow *wf, const char *format, FILE *out)
{
	static const struct {
		const char *name;
		void (*fn)(const struct leat_graph *g, FILE *out);
	} formats[] = {
		{"text", leat_graph_text},
		{"dot", leat_graph_dot},
		{"json", leat_graph_json},
	};
	struct leat_graph g;
	int rc = -EINVAL;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(format, formats[i].name))
			continue;
		rc = leat_graph_init(&g, wf);
		if (!rc)
			formats[i].fn(&g, out);
		leat_graph_release(&g);
	}
	if (rc)
		return rc;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
