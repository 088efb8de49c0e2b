/* Checks of names: what they match, or fail to. */
#include "lang/check/internal.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "model/lookup.h"

int leat_check_dep_unproduced(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t r = 0; r < step->n_rules; r++) {
			const struct leat_names *deps = &step->rules[r].deps;

			for (size_t i = 0; i < deps->n; i++)
				if (!leat_check_is_produced(ctx, deps->v[i].text))
					leat_lang_report(
						ctx->diags, L_CHECK_DEP_UNPRODUCED, deps->v[i].pos,
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
	FTS *tree = root ? fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL) : NULL;
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

/* 1 if the input exists below the directory, 0 if not, -errno. */
static int exists_in(const char *dir, const char *name)
{
	char *path;
	int rc;

	if (leat_pattern_is_wild(name))
		return find_match(dir, name);
	path = leat_path_join(dir, name);
	if (!path)
		return -ENOMEM;
	rc = access(path, F_OK) == 0;
	free(path);
	return rc;
}

/* The same for the workflow's directory, where all instances of a task look for one name. What was
 * found before is in the table. */
static int exists(const struct leat_check_context *ctx, const char *name,
		  struct leat_lookup **known)
{
	const struct leat_lookup *found = leat_lookup_find(*known, name);
	int rc = found ? (int)found->index : exists_in(ctx->dir, name);

	if (!found && rc != -ENOMEM && leat_lookup_add(known, name, rc > 0))
		return -ENOMEM;
	return rc;
}

/* The same for the step: an instance may have it in a directory of its own. */
static int input_exists(const struct leat_check_context *ctx, const struct leat_step *step,
			const char *name, struct leat_lookup **known)
{
	int rc = exists(ctx, name, known);
	char *own;

	if (!step->dir || rc == -ENOMEM || rc > 0)
		return rc;
	own = leat_path_join(ctx->dir, step->dir);
	rc = own ? exists_in(own, name) : -ENOMEM;
	free(own);
	return rc;
}

static void report_missing(const struct leat_check_context *ctx, const struct leat_step *step,
			   const struct leat_name *input)
{
	bool wild = leat_pattern_is_wild(input->text);

	leat_lang_report_as(ctx->diags, wild ? LEAT_WARNING : LEAT_ERROR, L_CHECK_INPUT_MISSING,
			    input->pos,
			    wild ? "\"%s\", an input of \"%s\", matches nothing that a step "
				   "produces and nothing in \"%s\"%s%s"
				 : "\"%s\", an input of \"%s\", is produced by no step and does "
				   "not exist in \"%s\"%s%s",
			    input->text, step->name, ctx->dir, step->dir ? " or in " : "",
			    step->dir ? step->dir : "");
}

static int check_input(const struct leat_check_context *ctx, const struct leat_step *step,
		       const struct leat_name *input, struct leat_lookup **known)
{
	const struct leat_file_rule *rule = leat_match(ctx->m, input->text);
	char other[PATH_MAX];
	int rc;

	if (!rule)
		return -ENOMEM;
	if (rule->excluded || leat_check_is_produced(ctx, input->text) ||
	    (leat_check_other_name(ctx->dir, input->text, other) &&
	     leat_check_is_produced(ctx, other)))
		return 0;
	rc = input_exists(ctx, step, input->text, known);
	if (rc == -ENOMEM)
		return rc;
	if (rc <= 0)
		report_missing(ctx, step, input);
	return 0;
}

int leat_check_input_missing(const struct leat_check_context *ctx)
{
	struct leat_lookup *known = NULL;
	int rc = 0;

	for (size_t s = 0; ctx->ready && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t i = 0; i < step->inputs.n && !rc; i++)
			rc = check_input(ctx, step, &step->inputs.v[i], &known);
	}
	leat_lookup_free(known);
	return rc;
}

/* 0 if the file, which is relative to the workflow file, can be read, else -errno. */
static int try_beside(const struct leat_workflow *wf, const char *name)
{
	char *joined = leat_workflow_beside(wf, name);
	int rc = joined ? 0 : -ENOMEM;
	struct stat st;

	if (joined && (stat(joined, &st) < 0 || access(joined, R_OK) < 0))
		rc = -errno;
	else if (joined && !S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	free(joined);
	return rc;
}

int leat_check_action_file(const struct leat_check_context *ctx)
{
	for (size_t s = 0; ctx->ready && ctx->wf->path && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];
		int rc;

		if (!step->action_file || step->instance)
			continue;
		rc = try_beside(ctx->wf, step->action_file);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			leat_lang_report(
				ctx->diags, L_CHECK_ACTION_FILE, step->action_pos,
				"cannot read the action file %s, beside the workflow file: %s",
				step->action_file, strerror(-rc));
	}
	return 0;
}

int leat_check_action_mode(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		for (size_t i = 0; step->action_file && !step->instance && i < step->outputs.n;
		     i++) {
			const char *output = step->outputs.v[i].text;
			const struct leat_file_rule *rule = leat_match(ctx->m, output);

			if (!rule)
				return -ENOMEM;
			if (rule->fire != LEAT_FIRE_NO_UPDATE)
				continue;
			leat_lang_report(ctx->diags, L_CHECK_ACTION_MODE, step->outputs.v[i].pos,
					 "\"%s\" has mode no_update, but step \"%s\" has actions, "
					 "which decide when consumers see it",
					 output, step->name);
		}
	}
	return 0;
}

int leat_check_home_step(const struct leat_check_context *ctx)
{
	for (size_t i = 0; i < ctx->wf->n_home_manual; i++) {
		const struct leat_home_manual *home = &ctx->wf->home_manual[i];

		if (home->step < 0 || (size_t)home->step >= ctx->wf->n_steps)
			leat_lang_report(ctx->diags, L_CHECK_HOME_STEP, home->pos,
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
			leat_lang_report(ctx->diags, L_CHECK_PERMANENT_UNUSED, names->v[i].pos,
					 "\"%s\" is under \"permanent\", but no step produces it",
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
			leat_lang_report(ctx->diags, L_CHECK_EXCLUDE_UNUSED, names->v[i].pos,
					 "\"%s\" is under \"exclude\", but no step declares it",
					 names->v[i].text);
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

		if (!file || leat_names_has(&ctx->wf->steps[s].outputs, file))
			continue;
		leat_lang_report(ctx->diags, L_CHECK_PATTERN_CAPTURES, pattern->pos,
				 "pattern \"%s\" makes \"%s\" a producer of \"%s\", which \"%s\" "
				 "declares by name",
				 pattern->text, ctx->wf->steps[s].name, file,
				 ctx->wf->steps[t].name);
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

		if (!file || leat_names_has(&ctx->wf->steps[s].inputs, file))
			continue;
		leat_lang_report(ctx->diags, L_CHECK_PATTERN_CAPTURES, pattern->pos,
				 "pattern \"%s\" makes \"%s\" a consumer of \"%s\", an output of "
				 "the later step \"%s\"",
				 pattern->text, ctx->wf->steps[s].name, file,
				 ctx->wf->steps[t].name);
		return;
	}
}

/* `file`, an output that step `t` declares by its plain name, is that of no step that declares the
 * directory above. `*told`: of which directories that is said. 0 or -ENOMEM. */
static int check_output_below(const struct leat_check_context *ctx, const char *dir,
			      const char *file, size_t t, struct leat_lookup **told)
{
	const struct leat_file_rule *above = leat_match(ctx->m, dir), *rule;
	const int n = (int)ctx->wf->n_steps;

	rule = above ? leat_match(ctx->m, file) : NULL;
	for (int s = rule ? leat_steps_next(above->producers, 0, n) : n; s < n;
	     s = leat_steps_next(above->producers, s + 1, n)) {
		const struct leat_names *outputs = &ctx->wf->steps[s].outputs;
		const struct leat_name *at = NULL;

		if (s == (int)t || leat_steps_has(rule->producers, s))
			continue;
		for (size_t i = 0; i < outputs->n && !at; i++)
			at = strcmp(outputs->v[i].text, dir) == 0 ? &outputs->v[i] : NULL;
		if (!at || leat_lookup_find(*told, at->text))
			continue;
		if (leat_lookup_add(told, at->text, 1))
			return -ENOMEM;
		leat_lang_report(
			ctx->diags, L_CHECK_PATTERN_CAPTURES, at->pos,
			"\"%s\" makes \"%s\" a producer of all in it but \"%s\", which \"%s\" "
			"declares by name",
			dir, ctx->wf->steps[s].name, file, ctx->wf->steps[t].name);
	}
	return rule ? 0 : -ENOMEM;
}

/* What lies in a directory that is an output is that of who declares it by its own name. */
static int check_output_directories(const struct leat_check_context *ctx)
{
	struct leat_lookup *told = NULL;
	int rc = 0;

	for (size_t t = 0; t < ctx->wf->n_steps; t++) {
		const struct leat_names *outputs = &ctx->wf->steps[t].outputs;

		for (size_t i = 0; i < outputs->n && !rc; i++) {
			const char *file = outputs->v[i].text;
			char dir[PATH_MAX];
			char *slash;

			if (leat_pattern_is_wild(file) || strlen(file) >= sizeof(dir))
				continue;
			strcpy(dir, file);
			while (!rc && (slash = strrchr(dir, '/'))) {
				*slash = 0;
				rc = check_output_below(ctx, dir, file, t, &told);
			}
		}
	}
	leat_lookup_free(told);
	return rc;
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
	return check_output_directories(ctx);
}
