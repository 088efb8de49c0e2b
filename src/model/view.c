#include "model/view.h"

#include "base/str.h"
#include "model/match.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool leat_inport_has_versions(const struct leat_inport *in)
{
	return in->flow != LEAT_FLOW_BATCH || in->n_sources > 1;
}

bool leat_flow_delivers(const struct leat_inport *in, uint64_t number)
{
	return in->flow != LEAT_FLOW_SOME || number % in->every == 0;
}

/* `path` without the directory `dir` before it; NULL: it is not in it. */
static const char *within(const char *path, const char *dir)
{
	if (!dir)
		return path;
	return leat_path_is_below(path, dir) ? path + strlen(dir) + 1 : NULL;
}

static bool shows(const char *pattern, const char *path)
{
	return leat_pattern_match(pattern, path) || leat_pattern_covers(pattern, path);
}

/* A directory that leads to what the pattern matches. */
static bool leads_to(const char *pattern, const char *path)
{
	size_t n = leat_pattern_directory(pattern);

	return strlen(path) <= n && !strncmp(pattern, path, strlen(path)) &&
	       pattern[strlen(path)] == '/';
}

const struct leat_inport *leat_view_find(const struct leat_step *step, const char *path)
{
	for (size_t i = 0; i < step->n_inports; i++)
		if (shows(step->inports[i].seen.text, path))
			return &step->inports[i];
	return NULL;
}

const struct leat_inport *leat_view_find_above(const struct leat_step *step, const char *path)
{
	for (size_t i = 0; i < step->n_inports; i++)
		if (within(path, step->dir) && leads_to(step->inports[i].seen.text, path))
			return &step->inports[i];
	return NULL;
}

static bool move(const char *path, const char *from, const char *to, char out[PATH_MAX])
{
	const char *rest = within(path, from);

	if (!rest)
		return false;
	if (to)
		return leat_path_put(out, to, rest);
	return snprintf(out, PATH_MAX, "%s", rest) < PATH_MAX;
}

bool leat_view_made(const struct leat_workflow *wf, const struct leat_step *step,
		    const struct leat_inport *in, size_t source, const char *path,
		    char out[PATH_MAX])
{
	const struct leat_source *from = in->n_sources ? &in->sources[source] : NULL;

	if (!move(path, step->dir, from ? wf->steps[from->step].dir : NULL, out))
		return false;
	return !from || shows(from->made, out) || leads_to(from->made, out);
}

bool leat_view_seen(const struct leat_workflow *wf, const struct leat_step *step,
		    const struct leat_inport *in, size_t source, const char *made,
		    char out[PATH_MAX])
{
	const struct leat_source *from = &in->sources[source];

	return shows(from->made, made) && move(made, wf->steps[from->step].dir, step->dir, out) &&
	       shows(in->seen.text, out);
}
