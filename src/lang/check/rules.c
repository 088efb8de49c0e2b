/* Checks of commit rules: counts, dependencies, ties. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Call `fn` for every rule. */
static int each_rule(const struct leat_check_context *ctx,
		     int (*fn)(const struct leat_check_context *ctx, const struct leat_step *step,
			       const struct leat_rule *rule))
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t r = 0; r < step->n_rules; r++)
			if (fn(ctx, step, &step->rules[r]))
				return -ENOMEM;
	}
	return 0;
}

/* True if each step of the set has exactly this text among its outputs. */
static bool all_declare(const struct leat_check_context *ctx, const uint64_t *set, const char *text)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++)
		if (leat_steps_has(set, (int)s) &&
		    !leat_names_has(&ctx->wf->steps[s].outputs, text))
			return false;
	return true;
}

static int report_closes(const struct leat_check_context *ctx, const char *output,
			 const struct leat_file_rule *file)
{
	unsigned n = leat_check_count_steps(ctx, file->producers);
	bool certain = !leat_pattern_is_wild(output) && all_declare(ctx, file->producers, output);
	char *who;

	who = leat_check_list_steps(ctx, file->producers);
	if (!who)
		return -ENOMEM;
	leat_lang_report_as(ctx->diags, certain ? LEAT_ERROR : LEAT_WARNING, L_CHECK_CLOSES_TOO_FEW,
			    file->rule->name.pos,
			    "\"%s\" commits after %u close%s, but has %u producers: %s", output,
			    file->count, file->count == 1 ? "" : "s", n, who);
	free(who);
	return 0;
}

/* True if the rule was not yet in the list `seen` of `n`; puts it there. */
static bool is_new(const struct leat_rule **seen, size_t *n, const struct leat_rule *rule)
{
	for (size_t i = 0; i < *n; i++)
		if (seen[i] == rule)
			return false;
	seen[(*n)++] = rule;
	return true;
}

static int closes_of_step(const struct leat_check_context *ctx, const struct leat_step *step,
			  const struct leat_rule **seen, size_t *n_seen)
{
	for (size_t i = 0; i < step->outputs.n; i++) {
		const char *output = step->outputs.v[i].text;
		const struct leat_file_rule *file = leat_check_rule_of(ctx, output);

		if (!file)
			return -ENOMEM;
		/* One file of a rule speaks for all of its files. */
		if (file->rule && file->commit == LEAT_COMMIT_ON_CLOSE && file->count &&
		    leat_check_count_steps(ctx, file->producers) > file->count &&
		    is_new(seen, n_seen, file->rule) && report_closes(ctx, output, file))
			return -ENOMEM;
	}
	return 0;
}

int leat_check_closes_too_few(const struct leat_check_context *ctx)
{
	const struct leat_rule **seen;
	size_t n_seen = 0, capacity = 1;
	int rc = 0;

	for (size_t s = 0; s < ctx->wf->n_steps; s++)
		capacity += ctx->wf->steps[s].n_rules;
	seen = calloc(capacity, sizeof(const struct leat_rule *));
	if (!seen)
		return -ENOMEM;
	for (size_t s = 0; s < ctx->wf->n_steps && !rc; s++)
		rc = closes_of_step(ctx, &ctx->wf->steps[s], seen, &n_seen);
	free(seen);
	return rc;
}

static void report_unreachable(const struct leat_check_context *ctx, enum leat_severity severity,
			       const struct leat_rule *rule, const char *why)
{
	char text[32];

	leat_lang_report_as(ctx->diags, severity, L_CHECK_COUNT_UNREACHABLE, rule->name.pos,
			    "\"%s\" never reaches %s: %s", rule->name.text,
			    leat_commit_text(rule->commit, rule->count, text), why);
}

/* How the producers of what the rule is for are counted. */
struct producers {
	unsigned instances;
	bool all_staged;
};

static struct producers producers_of(const struct leat_check_context *ctx, const char *text)
{
	const uint64_t *set = leat_check_producers(ctx, text);
	struct producers p = {0, true};

	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		if (!leat_steps_has(set, (int)s))
			continue;
		p.instances += ctx->wf->steps[s].instances;
		p.all_staged &= ctx->wf->steps[s].staged;
	}
	return p;
}

static int count_of_rule(const struct leat_check_context *ctx, const struct leat_step *step,
			 const struct leat_rule *rule)
{
	unsigned n_files = rule->commit == LEAT_COMMIT_N_FILES ? rule->count : rule->n_files;
	struct producers p;

	(void)step;
	if (rule->count == 0 && n_files == 0)
		return 0;
	p = producers_of(ctx, rule->name.text);
	if (p.instances == 0)
		report_unreachable(ctx, LEAT_ERROR, rule, "no step produces it");
	else if (rule->commit == LEAT_COMMIT_ON_TERMINATION && rule->count > p.instances)
		report_unreachable(ctx, LEAT_ERROR, rule, "it has fewer producers");
	else if (rule->commit == LEAT_COMMIT_ON_CLOSE && rule->count > 1 && p.all_staged)
		report_unreachable(
			ctx, LEAT_ERROR, rule,
			"its producers are staged, and leat does not intercept their closes");
	else if (rule->is_dir && n_files > leat_check_files_in(ctx, rule->name.text))
		report_unreachable(ctx, LEAT_WARNING, rule, "fewer files are declared in it");
	return 0;
}

int leat_check_count_unreachable(const struct leat_check_context *ctx)
{
	return each_rule(ctx, count_of_rule);
}

static int output_of_rule(const struct leat_check_context *ctx, const struct leat_step *step,
			  const struct leat_rule *rule)
{
	const struct leat_file_rule *file = leat_check_rule_of(ctx, rule->name.text);
	size_t s = (size_t)(step - ctx->wf->steps);

	if (!file)
		return -ENOMEM;
	if (file->excluded)
		leat_lang_report(ctx->diags, L_CHECK_RULE_NO_OUTPUT, rule->name.pos,
				 "the rule for \"%s\" has no effect: it is excluded",
				 rule->name.text);
	else if (!leat_check_is_produced(ctx, rule->name.text)) {
		if (!rule->count) /* else count-unreachable has said it */
			leat_lang_report(ctx->diags, L_CHECK_RULE_NO_OUTPUT, rule->name.pos,
					 "the rule for \"%s\" has no effect: no step produces it",
					 rule->name.text);
	} else if (!leat_check_is_used(ctx, s, rule->name.text))
		leat_lang_report(
			ctx->diags, L_CHECK_RULE_NO_OUTPUT, rule->name.pos,
			"the rule for \"%s\" has no effect: it is neither an output nor an "
			"input of \"%s\"",
			rule->name.text, step->name);
	return 0;
}

int leat_check_rule_no_output(const struct leat_check_context *ctx)
{
	return each_rule(ctx, output_of_rule);
}

/* Why what the rule is for has to be retained, or NULL. */
static const char *why_retained(const struct leat_check_context *ctx, const struct leat_rule *rule,
				const struct leat_file_rule *file)
{
	if (rule->fire != LEAT_FIRE_NO_UPDATE)
		return "without \"mode\": \"no_update\" no step reads it before it is complete";
	if (file->permanent)
		return "it is permanent";
	if (leat_check_count_steps(ctx, file->consumers) == 0)
		return "no step reads it";
	if (leat_check_count_steps(ctx, file->consumers) > 1)
		return "more than one step reads it";
	return NULL;
}

static int retain_of_rule(const struct leat_check_context *ctx, const struct leat_step *step,
			  const struct leat_rule *rule)
{
	const struct leat_file_rule *file;
	const char *why;

	(void)step;
	if (!rule->drop)
		return 0;
	file = leat_check_rule_of(ctx, rule->name.text);
	if (!file)
		return -ENOMEM;
	why = why_retained(ctx, rule, file);
	if (why)
		leat_lang_report(ctx->diags, L_CHECK_RETAIN, rule->name.pos,
				 "\"%s\" must be retained: %s", rule->name.text, why);
	return 0;
}

int leat_check_retain(const struct leat_check_context *ctx)
{
	return each_rule(ctx, retain_of_rule);
}
