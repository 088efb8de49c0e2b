/* What cannot be between ports that are linked, or are not. */
#include "lang/yaml/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

/* --- Which names instances have ----------------------------------------------------------- */

/* The names that all instances of the task have for `text`, as a pattern; the caller frees it. */
static char *made_by_all(const struct leat_workflow *wf, const struct leat_lang_tasks *tasks,
			 size_t t, const char *text)
{
	return tasks->v[t].count > 1 ? leat_strf("%s.[0-9]*/%s", wf->steps[t].name, text)
				     : strdup(text);
}

/* 1 if what the two tasks make under these names may be one file, 0 if not, -ENOMEM. Instances
 * of ensembles have directories of their own. */
static int made_meet(const struct leat_workflow *wf, const struct leat_lang_tasks *tasks, size_t t,
		     const char *a, size_t u, const char *b)
{
	char *made_a, *made_b;
	int ret = -ENOMEM;

	if (tasks->v[t].count > 1 && tasks->v[u].count > 1)
		return 0;
	made_a = made_by_all(wf, tasks, t, a);
	made_b = made_by_all(wf, tasks, u, b);
	if (made_a && made_b)
		ret = leat_ports_meet(made_a, false, made_b, false);
	free(made_a);
	free(made_b);
	return ret;
}

/* --- Versions ------------------------------------------------------------------------------- */

static bool is_linked_to(const struct leat_port *in, size_t task, size_t port)
{
	for (size_t l = 0; l < in->n_links; l++)
		if (in->links[l].task == task && in->links[l].port == port)
			return true;
	return false;
}

/* Versions are those of one writer: report who else makes what link `l` of the input gives. */
static int check_producers(struct leat_front *front, const struct leat_lang_tasks *tasks, size_t t,
			   size_t i, const struct leat_lang_link *link)
{
	const struct leat_workflow *wf = front->wf;
	const struct leat_name *input = &wf->steps[t].inputs.v[i];
	const struct leat_port *in = &tasks->v[t].in.v[i];

	for (size_t u = 0; u < tasks->n; u++) {
		const struct leat_names *outputs = &wf->steps[u].outputs;

		for (size_t o = 0; u != link->task && o < outputs->n; o++) {
			int meet =
				made_meet(wf, tasks, link->task, link->text, u, outputs->v[o].text);

			if (meet < 0)
				return meet;
			/* Of two that are linked, the first reports. */
			if (!meet || (u < link->task && is_linked_to(in, u, o)))
				continue;
			leat_lang_report(front->diags, L_PORT_PRODUCERS, input->pos,
					 "\"%s\" is read version by version, but may be produced "
					 "by \"%s\" (line %d) and by \"%s\" (line %d): let one "
					 "task produce it, or give the files different names",
					 input->text, wf->steps[link->task].name,
					 wf->steps[link->task].outputs.v[link->port].pos.line,
					 wf->steps[u].name, outputs->v[o].pos.line);
			return 0;
		}
	}
	return 0;
}

static int check_versions(struct leat_front *front, const struct leat_lang_tasks *tasks, size_t t,
			  size_t i)
{
	const struct leat_port *in = &tasks->v[t].in.v[i];
	int ret = 0;

	for (size_t l = 0; !ret && in->flow != LEAT_FLOW_BATCH && l < in->n_links; l++)
		ret = check_producers(front, tasks, t, i, &in->links[l]);
	return ret;
}

static void report_batch(struct leat_front *front, const struct leat_lang_tasks *tasks,
			 const struct leat_name *input, const struct leat_port *out)
{
	const struct leat_step *other = &front->wf->steps[out->reader];
	const struct leat_port *in = &tasks->v[out->reader].in.v[out->reader_input];

	leat_lang_report(
		front->diags, L_PORT_BATCH, input->pos,
		"\"%s\" is read as one file here, but %s by \"%s\" (line %d): give it \"io_freq\" "
		"here, too",
		input->text,
		in->freq.line || in->has_dsets
			? "version by version"
			: "as those of several instances, one after the other,",
		other->name, other->inputs.v[out->reader_input].pos.line);
}

/* A link of an input that takes one file, of an output that others want in versions. */
static bool check_batch_link(struct leat_front *front, const struct leat_lang_tasks *tasks,
			     const struct leat_name *input, const struct leat_lang_link *link)
{
	const struct leat_port *out = &tasks->v[link->task].out.v[link->port];

	for (size_t t = 0; out->versioned && t < tasks->n; t++) {
		for (size_t i = 0; i < tasks->v[t].in.n; i++) {
			const struct leat_port *in = &tasks->v[t].in.v[i];
			struct leat_port found = *out;

			for (size_t l = 0; in->flow != LEAT_FLOW_BATCH && l < in->n_links; l++) {
				if (in->links[l].task != link->task ||
				    !leat_ports_meet(in->links[l].text, false, link->text, false))
					continue;
				found.reader = t;
				found.reader_input = i;
				report_batch(front, tasks, input, &found);
				return true;
			}
		}
	}
	return false;
}

/* An input that names what instances make by the names of their directories. */
static int check_batch_names(struct leat_front *front, const struct leat_lang_tasks *tasks,
			     size_t t, const struct leat_name *input)
{
	const struct leat_workflow *wf = front->wf;

	for (size_t u = 0; u < tasks->n; u++) {
		for (size_t o = 0; u != t && o < tasks->v[u].out.n; o++) {
			const struct leat_port *out = &tasks->v[u].out.v[o];
			char *made;
			bool meet;

			if (!out->versioned)
				continue;
			made = made_by_all(wf, tasks, u, wf->steps[u].outputs.v[o].text);
			if (!made)
				return -ENOMEM;
			meet = leat_ports_meet(made, false, input->text, false);
			free(made);
			if (!meet)
				continue;
			report_batch(front, tasks, input, out);
			return 0;
		}
	}
	return 0;
}

/* What is read as one file has no versions for others. */
static int check_batch(struct leat_front *front, const struct leat_lang_tasks *tasks, size_t t,
		       size_t i)
{
	const struct leat_port *in = &tasks->v[t].in.v[i];
	const struct leat_name *input = &front->wf->steps[t].inputs.v[i];

	if (in->flow != LEAT_FLOW_BATCH)
		return 0;
	if (!in->n_links && !in->own && !in->freq.line)
		return check_batch_names(front, tasks, t, input);
	for (size_t l = 0; l < in->n_links; l++)
		if (check_batch_link(front, tasks, input, &in->links[l]))
			break;
	return 0;
}

/* --- Single inputs ----------------------------------------------------- */

/* The output of an ensemble whose instances' names the input matches, or NULL. */
static int find_made(const struct leat_workflow *wf, const struct leat_lang_tasks *tasks,
		     const char *input, const struct leat_name **found)
{
	*found = NULL;
	for (size_t u = 0; u < tasks->n; u++) {
		for (size_t o = 0; tasks->v[u].count > 1 && o < tasks->v[u].out.n; o++) {
			const struct leat_name *output = &wf->steps[u].outputs.v[o];
			char *made = made_by_all(wf, tasks, u, output->text);

			if (!made)
				return -ENOMEM;
			if (leat_ports_meet(made, false, input, false))
				*found = output;
			free(made);
			if (*found)
				return 0;
		}
	}
	return 0;
}

/* Nothing comes in versions that no other task makes. */
static int check_freq(struct leat_front *front, const struct leat_lang_tasks *tasks, size_t t,
		      size_t i)
{
	const struct leat_port *in = &tasks->v[t].in.v[i];
	const char *input = front->wf->steps[t].inputs.v[i].text;
	const struct leat_name *output;
	int ret;

	if (!in->freq.line || in->n_links)
		return 0;
	ret = find_made(front->wf, tasks, input, &output);
	if (ret)
		return ret;
	if (output)
		leat_lang_report(front->diags, L_IO_FREQ, in->freq,
				 "\"io_freq\" is for a port with a producer: write \"filename\" "
				 "\"%s\", as the producer does, instead of \"%s\"",
				 output->text, input);
	else
		leat_lang_report(
			front->diags, L_IO_FREQ, in->freq,
			"no other task produces \"%s\": correct its name, or leave \"io_freq\" out",
			input);
	return 0;
}

static void check_single(struct leat_front *front, const struct leat_lang_tasks *tasks, size_t t,
			 size_t i)
{
	const struct leat_step *step = &front->wf->steps[t];
	const struct leat_port *in = &tasks->v[t].in.v[i];
	const struct leat_name *input = &step->inputs.v[i];

	if (!leat_is_inport(tasks, t, i))
		return;
	if (in->n_links && in->own && !leat_pattern_is_wild(input->text) &&
	    leat_names_has(&step->outputs, input->text))
		leat_lang_report(front->diags, L_PORT_PRODUCERS, input->pos,
				 "\"%s\" itself produces a file called \"%s\" and cannot read that "
				 "of \"%s\" under the same name",
				 step->name, input->text, front->wf->steps[in->links[0].task].name);
	for (size_t k = 0; k < i; k++)
		if (!strcmp(step->inputs.v[k].text, input->text)) {
			leat_lang_report(
				front->diags, L_PORT_TWICE, input->pos,
				"\"%s\" is in two inports (first in line %d): make them one",
				input->text, step->inputs.v[k].pos.line);
			break;
		}
}

/* "{filename}" is the file of the first inport. */
static void check_filename(struct leat_front *front, const struct leat_lang_tasks *tasks, size_t t)
{
	const struct leat_lang_task *task = &tasks->v[t];
	const struct leat_names *inputs = &front->wf->steps[t].inputs;

	if (!task->filename.line)
		return;
	if (!inputs->n)
		leat_lang_report(
			front->diags, L_FILENAME, task->filename,
			"\"{filename}\" is the file of the first inport, but the task has none");
	else if (task->in.v[0].flow == LEAT_FLOW_BATCH && leat_pattern_is_wild(inputs->v[0].text))
		leat_lang_report(front->diags, L_FILENAME, task->filename,
				 "\"{filename}\" is one file, but \"%s\" may match several: give "
				 "the inport \"io_freq\", or name the file",
				 inputs->v[0].text);
}

void leat_filenames_check(struct leat_front *front, const struct leat_lang_tasks *tasks)
{
	for (size_t t = 0; t < tasks->n; t++) {
		leat_diags_set_subject(front->diags, "task", front->wf->steps[t].name);
		check_filename(front, tasks, t);
	}
	leat_diags_set_subject(front->diags, NULL, NULL);
}

int leat_links_check(struct leat_front *front, const struct leat_lang_tasks *tasks)
{
	int ret = 0;

	for (size_t t = 0; t < tasks->n; t++) {
		leat_diags_set_subject(front->diags, "task", front->wf->steps[t].name);
		for (size_t i = 0; !ret && i < tasks->v[t].in.n; i++) {
			check_single(front, tasks, t, i);
			ret = check_freq(front, tasks, t, i);
			if (!ret)
				ret = check_versions(front, tasks, t, i);
			if (!ret)
				ret = check_batch(front, tasks, t, i);
		}
	}
	leat_diags_set_subject(front->diags, NULL, NULL);
	return ret;
}

/* --- Data sets in memory ----------------------------------------- */

/* The partner that a data set has, or nearly has. */
struct partner {
	bool found;
	const struct leat_step *step; /* of the nearest */
	const char *name;             /* its data set where the file is right, else its file */
	bool file_is_right;
	unsigned distance;
};

static void note_near(struct partner *p, const struct leat_step *step, const char *name,
		      bool file_is_right, const char *wanted)
{
	unsigned distance = leat_str_distance(name, wanted);

	if (p->file_is_right > file_is_right ||
	    (p->step && p->file_is_right == file_is_right && p->distance <= distance))
		return;
	/* Of a file that is right, any data set is worth telling. */
	if (!file_is_right && distance > (strlen(name) + 1) / 2)
		return;
	p->step = step;
	p->name = name;
	p->file_is_right = file_is_right;
	p->distance = distance;
}

/* Look at one port of the other direction. */
static void try_port(struct partner *p, const struct leat_dset *dset, bool is_dir,
		     const struct leat_step *step, const char *name, bool name_is_dir)
{
	bool any = false;

	if (!leat_ports_meet(dset->port.text, is_dir, name, name_is_dir)) {
		note_near(p, step, name, false, dset->port.text);
		return;
	}
	for (size_t d = 0; d < step->n_dsets; d++) {
		const struct leat_dset *other = &step->dsets[d];

		if (other->in == dset->in || strcmp(other->port.text, name))
			continue;
		any = true;
		p->found |= leat_dset_names_meet(other->name.text, dset->name.text);
		note_near(p, step, other->name.text, true, dset->name.text);
	}
	p->found |= !any;
}

static bool dset_is_dir(const struct leat_lang_task *task, const struct leat_step *step,
			const struct leat_dset *dset)
{
	const struct leat_names *names = dset->in ? &step->inputs : &step->outputs;
	const struct leat_ports *ports = dset->in ? &task->in : &task->out;

	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i].text, dset->port.text))
			return ports->v[i].is_dir;
	return false;
}

static struct partner find_partner(const struct leat_workflow *wf,
				   const struct leat_lang_tasks *tasks, size_t t,
				   const struct leat_dset *dset)
{
	bool is_dir = dset_is_dir(&tasks->v[t], &wf->steps[t], dset);
	struct partner p = {.found = false};

	for (size_t u = 0; u < tasks->n; u++) {
		const struct leat_step *step = &wf->steps[u];
		const struct leat_names *names = dset->in ? &step->outputs : &step->inputs;
		const struct leat_ports *ports = dset->in ? &tasks->v[u].out : &tasks->v[u].in;

		for (size_t i = 0; u != t && i < names->n; i++)
			try_port(&p, dset, is_dir, step, names->v[i].text, ports->v[i].is_dir);
	}
	return p;
}

static void report_unmatched(struct leat_front *front, const struct leat_dset *dset,
			     const struct partner *near)
{
	const char *verb = dset->in ? "writes" : "reads";
	const char *way = dset->in ? "come" : "go";

	if (near->step && near->file_is_right)
		leat_lang_report(front->diags, L_DSET_UNMATCHED, dset->name.pos,
				 "no other task %s data set \"%s\" of \"%s\", which is to %s "
				 "through memory; \"%s\" %s \"%s\" of it",
				 verb, dset->name.text, dset->port.text, way, near->step->name,
				 verb, near->name);
	else if (near->step)
		leat_lang_report(front->diags, L_DSET_UNMATCHED, dset->name.pos,
				 "no other task %s \"%s\", whose data set \"%s\" is to %s through "
				 "memory; did you mean \"%s\" of \"%s\"?",
				 verb, dset->port.text, dset->name.text, way, near->name,
				 near->step->name);
	else
		leat_lang_report(front->diags, L_DSET_UNMATCHED, dset->name.pos,
				 "no other task %s \"%s\", whose data set \"%s\" is to %s through "
				 "memory: correct its name, or set \"file\" to 1",
				 verb, dset->port.text, dset->name.text, way);
}

void leat_dsets_check(struct leat_front *front, const struct leat_lang_tasks *tasks)
{
	for (size_t t = 0; t < tasks->n; t++) {
		const struct leat_step *step = &front->wf->steps[t];

		leat_diags_set_subject(front->diags, "task", step->name);
		for (size_t d = 0; d < step->n_dsets; d++) {
			struct partner p;

			/* A real file is there also without a partner. */
			if (!step->dsets[d].memory || step->dsets[d].file)
				continue;
			p = find_partner(front->wf, tasks, t, &step->dsets[d]);
			if (!p.found)
				report_unmatched(front, &step->dsets[d], &p);
		}
	}
	leat_diags_set_subject(front->diags, NULL, NULL);
}
