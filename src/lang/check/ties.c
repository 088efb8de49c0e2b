/* The check for rules between which nothing decides. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One rule as seen by the search for ties. */
struct tied {
	const struct leat_step *step;
	const struct leat_rule *rule;
	char *text; /* owned; of a directory without a run at the end */
	bool wild;
};

/* Patterns last; equal exact names side by side, in the file's order. */
static int by_name(const void *pa, const void *pb)
{
	const struct tied *a = pa, *b = pb;
	int order = a->wild - b->wild;

	if (!order)
		order = strcmp(a->text, b->text);
	if (!order)
		order = a->step < b->step ? -1 : a->step > b->step;
	if (!order)
		order = a->rule < b->rule ? -1 : a->rule > b->rule;
	return order;
}

static const char *kind(const struct leat_rule *rule)
{
	return rule->is_dir ? "directory" : "file";
}

static void report_tie(const struct leat_check_context *ctx, const struct tied *a,
		       const struct tied *b)
{
	bool in_order = a->step < b->step || (a->step == b->step && a->rule < b->rule);
	const struct tied *first = in_order ? a : b, *second = in_order ? b : a;
	struct leat_pos pos = first->rule->name.pos;

	leat_lang_report(
		ctx->diags, L_CHECK_RULE_TIE, second->rule->name.pos,
		"the rules for %s \"%s\" (here, step \"%s\") and %s \"%s\" (line %d, column "
		"%d, step \"%s\") disagree, and neither is more specific",
		kind(second->rule), second->rule->name.text, second->step->name, kind(first->rule),
		first->rule->name.text, pos.line, pos.column, first->step->name);
	leat_lang_report_as(ctx->diags, LEAT_NOTE, L_CHECK_RULE_TIE, pos,
			    "the other rule, for %s \"%s\", is here", kind(first->rule),
			    first->rule->name.text);
}

static void compare_rules(const struct leat_check_context *ctx, const struct tied *a,
			  const struct tied *b)
{
	if (a->wild &&
	    (a->rule->is_dir != b->rule->is_dir || leat_pattern_compare(a->text, b->text) != 0 ||
	     !leat_pattern_overlap(a->text, b->text)))
		return;
	if (a->rule->is_dir != b->rule->is_dir || !leat_rule_agrees(a->rule, b->rule))
		report_tie(ctx, a, b);
}

/* Only rules that have an effect: those of a producer or consumer. */
static int collect_rules(const struct leat_check_context *ctx, struct tied *v, size_t *n)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t r = 0; r < step->n_rules; r++) {
			const struct leat_rule *rule = &step->rules[r];
			char *text;
			size_t length;

			if (!leat_check_is_used(ctx, s, rule->name.text))
				continue;
			text = strdup(rule->name.text);
			if (!text)
				return -ENOMEM;
			length = strlen(text);
			if (rule->is_dir && length > 2 && !strcmp(text + length - 2, "/*"))
				text[length - 2] = '\0';
			v[(*n)++] = (struct tied){step, rule, text, leat_pattern_is_wild(text)};
		}
	}
	return 0;
}

int leat_check_rule_tie(const struct leat_check_context *ctx)
{
	size_t n = 0, capacity = 1;
	struct tied *v;
	int rc;

	for (size_t s = 0; s < ctx->wf->n_steps; s++)
		capacity += ctx->wf->steps[s].n_rules;
	v = calloc(capacity, sizeof(*v));
	if (!v)
		return -ENOMEM;
	rc = collect_rules(ctx, v, &n);
	qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n && !rc; i++)
		for (size_t j = i + 1; j < n; j++) {
			if (!v[i].wild && strcmp(v[i].text, v[j].text))
				break;
			compare_rules(ctx, &v[i], &v[j]);
		}
	for (size_t i = 0; i < n; i++)
		free(v[i].text);
	free(v);
	return rc;
}
