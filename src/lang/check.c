#include "lang/check_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct leat_check leat_checks[] = {
	{"dep-cycle", "L-CHECK-DEP-CYCLE", "on_file rules do not depend on each other in a circle",
	 leat_check_dep_cycle},
	{"dep-unproduced", "L-CHECK-DEP-UNPRODUCED", "every file_deps entry is produced by a step",
	 leat_check_dep_unproduced},
	{"input-missing", "L-CHECK-INPUT-MISSING", "every input is produced by a step or exists",
	 leat_check_input_missing},
	{"closes-too-few", "L-CHECK-CLOSES-TOO-FEW",
	 "on_close:N counts at least one close for each producer", leat_check_closes_too_few},
	{"count-unreachable", "L-CHECK-COUNT-UNREACHABLE", "counts of commit rules can be reached",
	 leat_check_count_unreachable},
	{"deadlock", "L-CHECK-DEADLOCK", "no step waits for its own termination",
	 leat_check_deadlock},
	{"home-step", "L-CHECK-HOME-STEP", "home nodes name steps that exist",
	 leat_check_home_step},
	{"rule-tie", "L-CHECK-RULE-TIE", "rules of equal specificity agree", leat_check_rule_tie},
	{"permanent-unused", "L-CHECK-PERMANENT-UNUSED",
	 "every entry of permanent matches something that is produced",
	 leat_check_permanent_unused},
	{"exclude-unused", "L-CHECK-EXCLUDE-UNUSED",
	 "every entry of exclude matches something that is declared", leat_check_exclude_unused},
	{"pattern-captures", "L-CHECK-PATTERN-CAPTURES",
	 "no pattern takes the declared file of another step by accident",
	 leat_check_pattern_captures},
	{"two-updaters", "L-CHECK-TWO-UPDATERS",
	 "steps that read and write one file are in an order", leat_check_two_updaters},
	{"retain", "L-CHECK-RETAIN", "what is not retained is read once, while it is written",
	 leat_check_retain},
	{"rule-no-output", "L-CHECK-RULE-NO-OUTPUT", "rules are for files that their step produces",
	 leat_check_rule_no_output},
	{NULL, NULL, NULL, NULL},
};

int leat_check_workflow(const struct leat_workflow *wf, const char *dir, struct leat_diags *d)
{
	struct leat_check_context ctx = {
		.wf = wf,
		.m = leat_matcher_new(wf),
		.dir = dir,
		.diags = d,
		.outputs = leat_check_outputs_new(wf),
	};
	int rc = ctx.m && ctx.outputs ? 0 : -ENOMEM;

	for (const struct leat_check *c = leat_checks; c->name && !rc; c++)
		rc = c->fn(&ctx);
	leat_check_outputs_free(ctx.outputs);
	leat_matcher_free(ctx.m);
	return rc;
}

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

bool leat_check_has_name(const struct leat_names *names, const char *text)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i].text, text))
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
