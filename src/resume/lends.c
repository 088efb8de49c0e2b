/* What one step makes for another and is not there as it made it once the run is over. */
#include "resume/internal.h"

#include <stdlib.h>
#include <string.h>

/* `entry` with `with` for each wildcard, and `end` behind it; the caller frees it. NULL when out
 * of memory. */
static char *fill(const char *entry, const char *with, const char *end)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (const char *p = entry; *p; p++)
		if (*p == '*')
			fputs(with, out);
		else
			putc(*p == '?' ? *with : *p, out);
	fputs(end, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Is every name the entry can stand for permanent? Asked of names as nobody gives them in place of
 * each "*": one short, one long, so that only a "*" can match both. */
static bool are_kept(struct leat_matcher *m, const char *entry, const char *end)
{
	static const char *const fills[] = {"\1", "\1\1\1"};

	for (size_t i = 0; i < 2; i++) {
		char *name = fill(entry, fills[i], end);
		const struct leat_file_rule *rule = name ? leat_match(m, name) : NULL;
		bool kept = rule && (rule->permanent || rule->excluded);

		free(name);
		if (!kept)
			return false;
	}
	return true;
}

/* The same of the entry itself, or, if it is a directory's, of all that is in it. In doubt no. */
static bool is_kept(const struct leat_workflow *wf, struct leat_matcher *m, const char *entry)
{
	const struct leat_names *permanent = &wf->permanent;

	for (size_t i = 0; i < permanent->n; i++)
		if (strcmp(permanent->v[i].text, entry) == 0)
			return true;
	if (leat_pattern_is_wild(entry) && strchr(entry, '['))
		return false;
	return are_kept(m, entry, "") || are_kept(m, entry, "/\1");
}

static bool may_be_same(const char *out, const char *in)
{
	return leat_pattern_overlap(out, in) || leat_pattern_covers(out, in) ||
	       leat_pattern_covers(in, out);
}

/* Where one of the two spells a name out, it decides; else the producer's. */
static const char *decides(const char *out, const char *in)
{
	bool by_input = leat_pattern_is_wild(out) ? !leat_pattern_is_wild(in)
						  : leat_pattern_covers(out, in);

	return by_input ? in : out;
}

/* An entry of a directory above is left out: the more specific entry is the producer's. */
static bool makes(const struct leat_step *step, const char *name)
{
	for (size_t i = 0; i < step->outputs.n; i++)
		if (leat_pattern_overlap(step->outputs.v[i].text, name))
			return true;
	return false;
}

/* What `up` makes and `down` reads, if it is not kept (`m`), or `down` makes it, too (no `m`). */
static const char *find_tie(const struct leat_workflow *wf, struct leat_matcher *m, size_t up,
			    size_t down)
{
	const struct leat_names *outs = &wf->steps[up].outputs;
	const struct leat_names *ins = &wf->steps[down].inputs;

	for (size_t o = 0; o < outs->n; o++)
		for (size_t i = 0; i < ins->n; i++) {
			const char *out = outs->v[o].text, *in = ins->v[i].text;
			const char *name = may_be_same(out, in) ? decides(out, in) : NULL;

			if (name && (m ? !is_kept(wf, m, name) : makes(&wf->steps[down], name)))
				return name;
		}
	return NULL;
}

const char *leat_lends(const struct leat_workflow *wf, struct leat_matcher *m, size_t up,
		       size_t down)
{
	return find_tie(wf, m, up, down);
}

const char *leat_updates(const struct leat_workflow *wf, size_t up, size_t down)
{
	return find_tie(wf, NULL, up, down);
}
