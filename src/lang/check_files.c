/* Checks of names: what they match, or fail to. */
#include "lang/check_internal.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

int leat_check_dep_unproduced(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t r = 0; r < step->n_rules; r++) {
			const struct leat_names *deps = &step->rules[r].deps;

			for (size_t i = 0; i < deps->n; i++)
				if (!leat_check_is_produced(ctx, deps->v[i].text))
					leat_diags_add(
						ctx->diags, LEAT_ERROR, "L-CHECK-DEP-UNPRODUCED",
						deps->v[i].pos,
						"\"%s\" waits for \"%s\", which no step produces",
						step->rules[r].name.text, deps->v[i].text);
		}
	}
	return 0;
}

/* How much of a large directory is looked through for a pattern. */
enum { MAX_LOOKED_AT = 100000 };

/* 1 if something below `dir` matches the pattern (or there is too much to tell),
 * 0 if not, -errno. */
static int find_match(const char *dir, const char *pattern)
{
	char *root = strdup(dir);
	char *roots[] = {root, NULL};
	FTS *tree = root ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	int found = 0, looked = 0, rc = tree ? 0 : -errno;

	for (FTSENT *e; tree && !found && (e = fts_read(tree));) {
		size_t skip = strlen(dir);

		if (e->fts_level == FTS_ROOTLEVEL || e->fts_info == FTS_DP)
			continue;
		skip += e->fts_path[skip] == '/';
		found = leat_pattern_match(pattern, e->fts_path + skip) || ++looked > MAX_LOOKED_AT;
	}
	if (tree)
		fts_close(tree);
	free(root);
	return rc ? rc : found;
}

/* 1 if the input exists below the workflow's directory, 0 if not, -errno. */
static int input_exists(const struct leat_check_context *ctx, const char *name)
{
	char *path;
	int rc;

	if (leat_pattern_is_wild(name))
		return find_match(ctx->dir, name);
	path = leat_path_join(ctx->dir, name);
	if (!path)
		return -ENOMEM;
	rc = access(path, F_OK) == 0;
	free(path);
	return rc;
}

static int check_input(const struct leat_check_context *ctx, const struct leat_step *step,
		       const struct leat_name *input)
{
	bool wild = leat_pattern_is_wild(input->text);
	const struct leat_file_rule *rule = leat_match(ctx->m, input->text);
	int rc;

	if (!rule)
		return -ENOMEM;
	if (rule->excluded || leat_check_is_produced(ctx, input->text))
		return 0;
	rc = input_exists(ctx, input->text);
	if (rc == -ENOMEM)
		return rc;
	if (rc <= 0)
		leat_diags_add(
			ctx->diags, wild ? LEAT_WARNING : LEAT_ERROR, "L-CHECK-INPUT-MISSING",
			input->pos,
			wild ? "no step produces what \"%s\" matches, an input of \"%s\", and "
			       "nothing in \"%s\" does"
			     : "no step produces \"%s\", an input of \"%s\", and it does not "
			       "exist in \"%s\"",
			input->text, step->name, ctx->dir);
	return 0;
}

int leat_check_input_missing(const struct leat_check_context *ctx)
{
	for (size_t s = 0; ctx->dir && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t i = 0; i < step->inputs.n; i++)
			if (check_input(ctx, step, &step->inputs.v[i]))
				return -ENOMEM;
	}
	return 0;
}

int leat_check_home_step(const struct leat_check_context *ctx)
{
	for (size_t i = 0; i < ctx->wf->n_home_manual; i++) {
		const struct leat_home_manual *home = &ctx->wf->home_manual[i];

		if (home->step < 0 || (size_t)home->step >= ctx->wf->n_steps)
			leat_diags_add(ctx->diags, LEAT_ERROR, "L-CHECK-HOME-STEP", home->pos,
				       "home node of \"%s\": there is no such step",
				       home->files.n ? home->files.v[0].text : "");
	}
	return 0;
}

/* True if `text` may lie in a directory that is declared by its plain name:
 * one with a `dirname` rule, for any other name may be a file's. */
static bool may_be_in_directory(const struct leat_check_context *ctx, const char *text)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t r = 0; r < step->n_rules; r++) {
			char *below;
			bool may;

			if (!step->rules[r].is_dir)
				continue;
			below = leat_strf("%s/*", step->rules[r].name.text);
			may = !below || leat_pattern_overlap(below, text);
			free(below);
			if (may)
				return true;
		}
	}
	return false;
}

int leat_check_permanent_unused(const struct leat_check_context *ctx)
{
	const struct leat_names *names = &ctx->wf->permanent;

	for (size_t i = 0; i < names->n; i++)
		if (!leat_check_is_produced(ctx, names->v[i].text) &&
		    !may_be_in_directory(ctx, names->v[i].text))
			leat_diags_add(ctx->diags, LEAT_WARNING, "L-CHECK-PERMANENT-UNUSED",
				       names->v[i].pos,
				       "\"%s\" is to be permanent, but no step produces it",
				       names->v[i].text);
	return 0;
}

static bool is_declared(const struct leat_check_context *ctx, const char *text)
{
	if (leat_check_is_produced(ctx, text))
		return true;
	for (size_t s = 0; s < ctx->wf->n_steps; s++)
		if (leat_check_any_meets(&ctx->wf->steps[s].inputs, text))
			return true;
	return false;
}

int leat_check_exclude_unused(const struct leat_check_context *ctx)
{
	const struct leat_names *names = &ctx->wf->exclude;

	for (size_t i = 0; i < names->n; i++)
		if (!is_declared(ctx, names->v[i].text) &&
		    !may_be_in_directory(ctx, names->v[i].text))
			leat_diags_add(
				ctx->diags, LEAT_WARNING, "L-CHECK-EXCLUDE-UNUSED", names->v[i].pos,
				"\"%s\" is excluded, but no step declares it", names->v[i].text);
	return 0;
}

/* An output that step `t` declares by its plain name and `pattern` matches, or NULL. */
static const char *captured(const struct leat_check_context *ctx, const char *pattern, size_t t)
{
	const struct leat_names *outputs = &ctx->wf->steps[t].outputs;

	for (size_t i = 0; i < outputs->n; i++)
		if (!leat_pattern_is_wild(outputs->v[i].text) &&
		    leat_pattern_match(pattern, outputs->v[i].text))
			return outputs->v[i].text;
	return NULL;
}

static void check_output_pattern(const struct leat_check_context *ctx, size_t s,
				 const struct leat_name *pattern)
{
	for (size_t t = 0; t < ctx->wf->n_steps; t++) {
		const char *file = t == s ? NULL : captured(ctx, pattern->text, t);

		if (!file || leat_check_has_name(&ctx->wf->steps[s].outputs, file))
			continue;
		leat_diags_add(
			ctx->diags, LEAT_WARNING, "L-CHECK-PATTERN-CAPTURES", pattern->pos,
			"\"%s\" makes \"%s\" a producer of \"%s\" too, which is declared by \"%s\"",
			pattern->text, ctx->wf->steps[s].name, file, ctx->wf->steps[t].name);
		return;
	}
}

static void check_input_pattern(const struct leat_check_context *ctx, size_t s,
				const struct leat_name *pattern)
{
	for (size_t t = 0; t < ctx->wf->n_steps; t++) {
		const char *file = t == s || !leat_is_upstream(ctx->m, (int)s, (int)t)
					   ? NULL
					   : captured(ctx, pattern->text, t);

		if (!file || leat_check_has_name(&ctx->wf->steps[s].inputs, file))
			continue;
		leat_diags_add(
			ctx->diags, LEAT_WARNING, "L-CHECK-PATTERN-CAPTURES", pattern->pos,
			"\"%s\" makes \"%s\" a consumer of \"%s\", which is declared by \"%s\", "
			"a step that comes after it",
			pattern->text, ctx->wf->steps[s].name, file, ctx->wf->steps[t].name);
		return;
	}
}

int leat_check_pattern_captures(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t i = 0; i < step->outputs.n; i++)
			if (leat_pattern_is_wild(step->outputs.v[i].text))
				check_output_pattern(ctx, s, &step->outputs.v[i]);
		for (size_t i = 0; i < step->inputs.n; i++)
			if (leat_pattern_is_wild(step->inputs.v[i].text))
				check_input_pattern(ctx, s, &step->inputs.v[i]);
	}
	return 0;
}
