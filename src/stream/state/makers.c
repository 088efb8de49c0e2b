/* Which steps may make what an entry of the workflow file stands for. */
#include "stream/state/makers.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* True if the part of `pattern` before its first wildcard goes into `dir`. */
static bool goes_into(const char *pattern, const char *dir)
{
	size_t length = strlen(dir);

	return strcspn(pattern, "*?[") > length && leat_path_is_below(pattern, dir);
}

/* Does `pattern` match something below the exact name `dir`? */
bool leat_pattern_meets_below(const char *pattern, const char *dir)
{
	char *below = leat_path_join(dir, "*");
	bool yes = !below || leat_pattern_overlap(pattern, below);

	free(below);
	return yes;
}

static bool is_known_directory(const struct leat_step *step, const char *text)
{
	for (size_t i = 0; i < step->n_rules; i++)
		if (step->rules[i].is_dir && !strcmp(step->rules[i].name.text, text))
			return true;
	return false;
}

static bool output_meets(const struct leat_step *step, const char *output, const char *text)
{
	bool wild_output = leat_pattern_is_wild(output), wild_text = leat_pattern_is_wild(text);

	if (leat_pattern_overlap(output, text))
		return true;
	/* `text` lies in directory `output`: a leading "*" reaches below every name,
	 * which says something only of names known to be directories. */
	if (!wild_text ? !wild_output && leat_path_is_below(text, output)
		       : !wild_output && (goes_into(text, output) ||
					  (is_known_directory(step, output) &&
					   leat_pattern_meets_below(text, output))))
		return true;
	/* `output` lies in directory `text`. */
	return !wild_text &&
	       (wild_output ? goes_into(output, text) : leat_path_is_below(output, text));
}

bool leat_step_may_make(const struct leat_stream *s, int step, const char *text)
{
	const struct leat_step *st = &s->wf->steps[step];

	for (size_t i = 0; i < st->outputs.n; i++)
		if (output_meets(st, st->outputs.v[i].text, text))
			return true;
	return false;
}

bool leat_steps_spell_same(const struct leat_stream *s, int a, int b)
{
	const struct leat_names *names = &s->wf->steps[a].outputs;

	for (size_t i = 0; i < names->n; i++)
		if (!leat_pattern_is_wild(names->v[i].text) &&
		    leat_names_has(&s->wf->steps[b].outputs, names->v[i].text))
			return true;
	return false;
}
