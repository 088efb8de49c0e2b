/* What several checks ask of names and of sets of steps. */
#include "lang/check/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct leat_file_rule *leat_check_rule_of(const struct leat_check_context *ctx,
						const char *text)
{
	const struct leat_file_rule *rule;
	char *sample = leat_pattern_sample(text);

	if (!sample)
		return NULL;
	rule = leat_match(ctx->m, sample);
	free(sample);
	return rule;
}

bool leat_check_meets(const char *a, const char *b)
{
	return leat_pattern_overlap(a, b) || leat_pattern_covers(a, b) || leat_pattern_covers(b, a);
}

bool leat_check_any_meets(const struct leat_names *names, const char *text)
{
	for (size_t i = 0; i < names->n; i++)
		if (leat_check_meets(names->v[i].text, text))
			return true;
	return false;
}

unsigned leat_check_count_steps(const struct leat_check_context *ctx, const uint64_t *set)
{
	unsigned n = 0;

	for (size_t w = 0; w < leat_steps_words(ctx->m); w++)
		n += (unsigned)__builtin_popcountll(set[w]);
	return n;
}

char *leat_check_list_steps(const struct leat_check_context *ctx, const uint64_t *set)
{
	unsigned left = leat_check_count_steps(ctx, set);
	char *list = strdup("");

	for (size_t s = 0; s < ctx->wf->n_steps && list; s++) {
		const char *joint;
		char *longer;

		if (!leat_steps_has(set, (int)s))
			continue;
		left--;
		joint = !*list ? "" : left ? ", " : " and ";
		longer = leat_strf("%s%s%s", list, joint, ctx->wf->steps[s].name);
		free(list);
		list = longer;
	}
	return list;
}
