/* Names that steps without an order share, or are to have each for itself. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "lang/syntax/diagnostics.h"

/* ---- outputs ---- */

static bool are_ordered(const struct leat_check_context *ctx, size_t a, size_t b)
{
	return leat_is_upstream(ctx->m, (int)a, (int)b) || leat_is_upstream(ctx->m, (int)b, (int)a);
}

/* One pair of patterns of the two steps, or of a pattern and a plain name that it does not take
 * (that is pattern-captures). */
static bool overlap(const struct leat_check_context *ctx, size_t a, const struct leat_name *pattern,
		    size_t b)
{
	const struct leat_names *others = &ctx->wf->steps[b].outputs;

	for (size_t i = 0; i < others->n; i++) {
		const char *other = others->v[i].text;

		if (!leat_pattern_is_wild(other) || !leat_pattern_overlap(pattern->text, other))
			continue;
		leat_lang_report(ctx->diags, L_CHECK_OUTPUTS_OVERLAP, pattern->pos,
				 "\"%s\" of \"%s\" and \"%s\" of \"%s\" can match the same name, "
				 "and nothing orders the two steps",
				 pattern->text, ctx->wf->steps[a].name, other,
				 ctx->wf->steps[b].name);
		return true;
	}
	return false;
}

static bool has_patterns(const struct leat_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (leat_pattern_is_wild(names->v[i].text))
			return true;
	return false;
}

/* One finding for each two steps is enough. */
static void compare(const struct leat_check_context *ctx, size_t a, size_t b)
{
	const struct leat_names *outputs = &ctx->wf->steps[a].outputs;

	if (are_ordered(ctx, a, b))
		return;
	for (size_t i = 0; i < outputs->n; i++)
		if (leat_pattern_is_wild(outputs->v[i].text) && overlap(ctx, a, &outputs->v[i], b))
			return;
}

int leat_check_outputs_overlap(const struct leat_check_context *ctx)
{
	size_t *steps = calloc(ctx->wf->n_steps + 1, sizeof(*steps)), n = 0;

	if (!steps)
		return -ENOMEM;
	for (size_t s = 0; s < ctx->wf->n_steps; s++)
		if (has_patterns(&ctx->wf->steps[s].outputs))
			steps[n++] = s;
	for (size_t b = 1; b < n; b++)
		for (size_t a = 0; a < b; a++)
			compare(ctx, steps[b], steps[a]);
	free(steps);
	return 0;
}

/* ---- private ---- */

static void check_entry(const struct leat_check_context *ctx, const struct leat_step *step,
			const struct leat_name *entry)
{
	const char *why = NULL;

	if (step->staged)
		why = "the task is staged, and leat does not intercept its calls";
	else if (leat_check_is_produced(ctx, entry->text))
		why = "it is a declared output, which all steps share";
	else if (leat_check_any_meets(&ctx->wf->exclude, entry->text))
		why = "it is excluded, and leat does not handle it";
	if (why)
		leat_lang_report(ctx->diags, L_CHECK_PRIVATE, entry->pos,
				 "\"%s\" cannot be private to \"%s\": %s", entry->text, step->name,
				 why);
}

int leat_check_private(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t i = 0; i < step->private.n; i++)
			check_entry(ctx, step, &step->private.v[i]);
	}
	return 0;
}
