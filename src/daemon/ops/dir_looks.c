#include "daemon/ops/dir_looks.h"

#include "base/timespec.h"
#include "daemon/core/problems.h"
#include "daemon/ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Who looks again and again need not be remembered for ever. */
#define MAX_LOOKS 1024u

struct leat_dir_look {
	struct leat_dir_look *next;
	int step;
	struct timespec mtime; /* that it had then */
	char path[];
};

/* As steps see it: of the half in the store, if there is one. */
static bool find_mtime(struct leat_daemon *d, const char *path, struct timespec *mtime)
{
	struct stat st;

	if (!leat_tree_has(d->tree, LEAT_ROOT_STORE, path, &st) &&
	    !leat_tree_has(d->tree, LEAT_ROOT_DISK, path, &st))
		return false;
	*mtime = st.st_mtim;
	return S_ISDIR(st.st_mode);
}

void leat_dir_looks_note(struct leat_daemon *d, int step, const char *path)
{
	struct leat_dir_look *l;
	struct timespec mtime;

	if (step < 0 || !leat_step_reads_below(d->matcher, step, path) ||
	    !find_mtime(d, path, &mtime))
		return;
	for (l = d->ops->dir_looks; l; l = l->next)
		if (l->step == step && leat_timespec_is_same(l->mtime, mtime) &&
		    strcmp(l->path, path) == 0)
			return;
	if (d->ops->n_dir_looks >= MAX_LOOKS)
		return;
	l = malloc(sizeof(*l) + strlen(path) + 1);
	if (!l)
		return;
	l->step = step;
	l->mtime = mtime;
	strcpy(l->path, path);
	LL_PREPEND(d->ops->dir_looks, l);
	d->ops->n_dir_looks++;
}

void leat_dir_looks_check(struct leat_daemon *d, int step, enum leat_root root, const char *path)
{
	const struct leat_dir_look *l;
	struct timespec now;
	struct stat st;

	if (!d->ops->dir_looks || !leat_tree_has(d->tree, root, path, &st))
		return;
	for (l = d->ops->dir_looks; l; l = l->next) {
		if (l->step != step || !leat_timespec_is_same(st.st_mtim, l->mtime) ||
		    strcmp(l->path, path) == 0 || !find_mtime(d, l->path, &now) ||
		    leat_timespec_is_same(st.st_mtim, now))
			continue;
		leat_problem_add(d, 0,
				 "step %s gave the directory %s a time that %s had before all was "
				 "in it; have it list that first (ls %s >/dev/null)",
				 d->wf->steps[step].name, path, *l->path ? l->path : ".",
				 *l->path ? l->path : ".");
		return;
	}
}

void leat_dir_looks_free(struct leat_daemon *d)
{
	struct leat_dir_look *l, *next;

	LL_FOREACH_SAFE(d->ops->dir_looks, l, next)
	free(l);
	d->ops->dir_looks = NULL;
}
