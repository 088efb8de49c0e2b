/* Outputs that a step spells out and, having ended well, has not made. */
#include "daemon/run/unmade.h"

#include "base/beneath.h"
#include "base/json.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"

#include <errno.h>
#include <stdlib.h>

static const char *output_of(const struct leat_daemon *d, int step, size_t i)
{
	return d->wf->steps[step].outputs.v[i].text;
}

/* Is there something of that name, looked for as the kernel would, wherever it leads? */
static bool leads_somewhere(struct leat_daemon *d, const char *name)
{
	struct leat_found found;
	struct stat st;
	int rc = leat_tree_find(d->tree, name, LEAT_FIND_FOLLOW, &found);

	if (rc)
		return rc != -ENOENT && rc != -ENOTDIR;
	if (found.outside)
		return leat_beneath_stat(AT_FDCWD, found.path, &st) != -ENOENT;
	return found.root != LEAT_ROOT_NONE;
}

/* Something of that name is there, kept from before the run perhaps, or a producer has made it. */
static bool is_there(struct leat_daemon *d, const char *name)
{
	enum leat_root root;

	return leat_stream_made(d->stream, name) ||
	       leat_tree_look(d->tree, name, &root, NULL) == 0 || leads_somewhere(d, name);
}

static bool is_due(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule =
		leat_pattern_is_wild(name) ? NULL : leat_match(d->matcher, name);

	return rule && !rule->excluded && !is_there(d, name);
}

static bool has_ended_well(const struct leat_step_run *s)
{
	return s->state != LEAT_RUN_WAITING && !s->running && !s->status && !s->spoiled;
}

/* Only in memory, while the file of that name from before the run stays on disk, which the batch
 * would have replaced? */
static bool is_stale(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule =
		leat_pattern_is_wild(name) ? NULL : leat_match(d->matcher, name);
	const struct leat_file *f = rule ? leat_file_find(d, name) : NULL;
	enum leat_root root;
	struct stat st;

	return f && !f->staged && !f->saved && !f->keep && !rule->excluded && !rule->permanent &&
	       rule->storage == LEAT_STORAGE_MEMORY &&
	       leat_tree_look(d->tree, name, &root, NULL) == 0 && root != LEAT_ROOT_DISK &&
	       leat_tree_has(d->tree, LEAT_ROOT_DISK, name, &st) && S_ISREG(st.st_mode);
}

static void warn_stale(struct leat_daemon *d, int step)
{
	for (size_t i = 0; i < d->wf->steps[step].outputs.n; i++)
		if (is_stale(d, output_of(d, step, i)))
			leat_problem_add(d, 0,
					 "step %s made %s, which is not permanent: the file of "
					 "that name on disk is the one from before the run; remove "
					 "it, or declare the output permanent",
					 d->wf->steps[step].name, output_of(d, step, i));
}

void leat_unmade_note(struct leat_daemon *d, int step)
{
	struct leat_step_run *s = &d->steps[step];
	size_t n = d->wf->steps[step].outputs.n;

	/* Without a process it was only said to have ended. */
	if (!s->pid || !has_ended_well(s))
		return;
	warn_stale(d, step);
	if (!s->unmade)
		s->unmade = calloc(n / 64 + 1, sizeof(*s->unmade));
	for (size_t i = 0; s->unmade && i < n; i++)
		if (is_due(d, output_of(d, step, i)))
			s->unmade[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Whoever may have made it has ended well, and it is not there now either. */
static bool is_unmade(struct leat_daemon *d, int step, size_t i)
{
	const char *name = output_of(d, step, i);
	const struct leat_file_rule *rule;

	if (!d->steps[step].unmade || !leat_steps_has(d->steps[step].unmade, (int)i))
		return false;
	rule = leat_match(d->matcher, name);
	for (int k = 0; rule && k < (int)d->wf->n_steps; k++)
		if (leat_steps_has(rule->producers, k) && !has_ended_well(&d->steps[k]))
			return false;
	return rule && !is_there(d, name);
}

static bool is_error(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule = leat_match(d->matcher, name);

	return d->options.strict || (rule && rule->permanent && !d->options.warn_violations);
}

bool leat_unmade_any(struct leat_daemon *d, int step)
{
	for (size_t i = 0; i < d->wf->steps[step].outputs.n; i++)
		if (is_unmade(d, step, i))
			return true;
	return false;
}

bool leat_unmade_fails(struct leat_daemon *d)
{
	for (int step = 0; step < (int)d->wf->n_steps; step++)
		for (size_t i = 0; i < d->wf->steps[step].outputs.n; i++)
			if (is_unmade(d, step, i) && is_error(d, output_of(d, step, i)))
				return true;
	return false;
}

static void put(struct leat_daemon *d, struct leat_json *j, int step, size_t i)
{
	const char *name = output_of(d, step, i);
	int remover = leat_stream_remover(d->stream, name);
	int maker = leat_stream_removed_maker(d->stream, name);

	/* One of several that may make it has removed what another had made. */
	if (remover == step && maker >= 0)
		step = maker;
	leat_json_object(j, NULL, true);
	leat_json_string(j, "name", name);
	leat_json_string(j, "step", d->wf->steps[step].name);
	if (remover >= 0 && remover != step)
		leat_json_string(j, "removed_by", d->wf->steps[remover].name);
	leat_json_bool(j, "error", is_error(d, name));
	leat_json_close(j);
}

void leat_unmade_put(struct leat_daemon *d, struct leat_json *j)
{
	leat_json_list(j, "unmade_files", true);
	for (int step = 0; step < (int)d->wf->n_steps; step++)
		for (size_t i = 0; i < d->wf->steps[step].outputs.n; i++)
			if (is_unmade(d, step, i))
				put(d, j, step, i);
	leat_json_close(j);
}
