/* Which names, data sets and ports meet. */
#include "lang/yaml/task.h"

#include <string.h>

#include "model/match.h"

/* True if `pattern` can match something in directory `dir`, a plain name. */
static bool reaches_into(const char *pattern, const char *dir)
{
	return !leat_pattern_is_wild(dir) && leat_pattern_reaches_below(pattern, dir);
}

bool leat_ports_meet(const char *a, bool a_is_dir, const char *b, bool b_is_dir)
{
	return leat_pattern_overlap(a, b) || leat_pattern_covers(a, b) ||
	       leat_pattern_covers(b, a) || (a_is_dir && reaches_into(b, a)) ||
	       (b_is_dir && reaches_into(a, b));
}

const char *leat_ports_narrower(const char *output, bool output_is_dir, const char *input)
{
	if (leat_pattern_overlap(output, input)) {
		if (!leat_pattern_is_wild(input))
			return input;
		if (!leat_pattern_is_wild(output))
			return output;
		return leat_pattern_compare(output, input) > 0 ? output : input;
	}
	if (leat_pattern_covers(output, input))
		return input;
	if (leat_pattern_covers(input, output))
		return output;
	return output_is_dir && reaches_into(input, output) ? input : output;
}

bool leat_dset_names_meet(const char *a, const char *b)
{
	/* All are below the root of their file. */
	return leat_pattern_overlap(a + strspn(a, "/"), b + strspn(b, "/"));
}

/* The first data set of the port from number `from` on, or n_dsets. */
static size_t next_dset(const struct leat_step *step, bool in, const char *port, size_t from)
{
	while (from < step->n_dsets &&
	       (step->dsets[from].in != in || strcmp(step->dsets[from].port.text, port)))
		from++;
	return from;
}

bool leat_dsets_meet(const struct leat_step *reader, const char *input,
		     const struct leat_step *writer, const char *output)
{
	size_t first_in = next_dset(reader, true, input, 0);
	size_t first_out = next_dset(writer, false, output, 0);

	if (first_in == reader->n_dsets || first_out == writer->n_dsets)
		return true;
	for (size_t i = first_in; i < reader->n_dsets; i = next_dset(reader, true, input, i + 1))
		for (size_t o = first_out; o < writer->n_dsets;
		     o = next_dset(writer, false, output, o + 1))
			if (leat_dset_names_meet(reader->dsets[i].name.text,
						 writer->dsets[o].name.text))
				return true;
	return false;
}

bool leat_port_has_ensemble(const struct leat_lang_tasks *tasks, size_t t,
			    const struct leat_port *in)
{
	bool any = tasks->v[t].count > 1;

	for (size_t l = 0; l < in->n_links; l++)
		any |= tasks->v[in->links[l].task].count > 1;
	return any;
}

bool leat_is_inport(const struct leat_lang_tasks *tasks, size_t t, size_t i)
{
	const struct leat_port *in = &tasks->v[t].in.v[i];

	if (in->flow != LEAT_FLOW_BATCH)
		return true;
	return leat_port_has_ensemble(tasks, t, in) && (in->n_links > 0 || !in->own);
}
