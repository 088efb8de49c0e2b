/* Names with a symlink in them are other names, too: those of the directories that they lead to. */
#include "lang/check/symlink.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/check/internal.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

/* The path of the directory in which all lies that `text` matches, or of the part of it that is
 * there, without symlinks. How many bytes of `text` it stands for; 0: nothing is there. */
static size_t resolve(const char *dir, const char *text, char real[PATH_MAX])
{
	char part[PATH_MAX], path[PATH_MAX];
	size_t length = leat_pattern_directory(text);

	if (length >= sizeof(part))
		return 0;
	memcpy(part, text, length);
	part[length] = 0;
	while (length && !(leat_path_put(path, dir, part) && realpath(path, real))) {
		length = leat_pattern_directory(part);
		part[length] = 0;
	}
	return length;
}

bool leat_check_other_name(const char *dir, const char *text, char other[PATH_MAX])
{
	char real[PATH_MAX];
	size_t length = resolve(dir, text, real), top = strlen(dir);

	if (!length || (strcmp(real, dir) != 0 && !leat_path_is_below(real, dir)) ||
	    leat_pattern_is_wild(real + top))
		return false;
	snprintf(other, PATH_MAX, "%s%s", real + top + (real[top] == '/'),
		 text + length + (real[top] == 0));
	return strcmp(other, text) != 0;
}

/* Does the directory in which all lies that `text` matches lead through a symlink? *out: out of
 * `dir`. */
static bool leads_on(const char *dir, const char *text, bool *out)
{
	char real[PATH_MAX], path[PATH_MAX];
	size_t length = resolve(dir, text, real);

	if (!length || snprintf(path, sizeof(path), "%s/%.*s", dir, (int)length, text) >= PATH_MAX)
		return false;
	*out = strcmp(real, dir) != 0 && !leat_path_is_below(real, dir);
	return strcmp(real, path) != 0;
}

static void refuse_view(const struct leat_check_context *ctx, const struct leat_step *step,
			const struct leat_inport *in, const char *text)
{
	bool out;

	if (leads_on(ctx->dir, text, &out))
		leat_lang_report(ctx->diags, L_CHECK_SYMLINK, in->seen.pos,
				 "\"%s\" contains a symbolic link, but \"%s\" reads it in versions "
				 "or under another name than its producer",
				 text, step->name);
}

static void check_step(const struct leat_check_context *ctx, const struct leat_step *step)
{
	bool out;

	for (size_t i = 0; i < step->n_inports; i++) {
		const struct leat_inport *in = &step->inports[i];

		if (in->n_sources)
			refuse_view(ctx, step, in, in->seen.text);
		for (size_t k = 0; k < in->n_sources; k++)
			if (strcmp(in->sources[k].made, in->seen.text) != 0)
				refuse_view(ctx, step, in, in->sources[k].made);
	}
	for (size_t i = 0; i < step->private.n; i++)
		if (leads_on(ctx->dir, step->private.v[i].text, &out) && out)
			leat_lang_report(ctx->diags, L_CHECK_SYMLINK, step->private.v[i].pos,
					 "\"%s\" cannot be private to \"%s\": a symbolic link in "
					 "it leads out of the workflow's directory",
					 step->private.v[i].text, step->name);
}

int leat_check_symlink(const struct leat_check_context *ctx)
{
	for (size_t s = 0; ctx->dir && s < ctx->wf->n_steps; s++)
		check_step(ctx, &ctx->wf->steps[s]);
	return 0;
}

static int add_names(const char *dir, struct leat_names *names)
{
	char other[PATH_MAX];
	int rc = 0;

	for (size_t i = 0, n = names->n; !rc && i < n; i++)
		if (leat_check_other_name(dir, names->v[i].text, other) &&
		    !leat_names_has(names, other))
			rc = leat_names_add(names, other, names->v[i].pos);
	return rc;
}

static int add_rule(struct leat_step *step, size_t i, const char *name)
{
	struct leat_rule *added = leat_step_add_rule(step, name, step->rules[i].name.pos);

	if (!added)
		return -ENOMEM;
	leat_rule_copy(added, &step->rules[i]);
	return leat_names_append(&added->deps, &step->rules[i].deps);
}

static int add_rules(const char *dir, struct leat_step *step)
{
	char other[PATH_MAX];
	int rc = 0;

	for (size_t i = 0, n = step->n_rules; !rc && i < n; i++)
		if (leat_check_other_name(dir, step->rules[i].name.text, other))
			rc = add_rule(step, i, other);
	return rc;
}

int leat_lang_follow_symlinks(struct leat_workflow *wf, const char *dir)
{
	struct leat_names *const lists[] = {&wf->permanent, &wf->exclude, &wf->store_memory,
					    &wf->store_fs};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(lists) / sizeof(*lists); i++)
		rc = add_names(dir, lists[i]);
	for (size_t s = 0; !rc && s < wf->n_steps; s++) {
		struct leat_step *step = &wf->steps[s];

		rc = add_names(dir, &step->inputs);
		if (!rc)
			rc = add_names(dir, &step->outputs);
		if (!rc)
			rc = add_names(dir, &step->private);
		if (!rc)
			rc = add_rules(dir, step);
	}
	return rc;
}
