#include "daemon/ops/dir_looks.h"

#include "base/str.h"
#include "base/timespec.h"
#include "daemon/core/problems.h"
#include "daemon/ops/ops.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Who looks again and again need not be remembered for ever. */
#define MAX_LOOKS 1024u

struct leat_dir_look {
	UT_hash_handle hh;     /* by all that follows */
	struct timespec mtime; /* that it had then */
	int64_t step;
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

static unsigned key_bytes(const struct leat_dir_look *l)
{
	return (unsigned)(offsetof(struct leat_dir_look, path) -
			  offsetof(struct leat_dir_look, mtime) + strlen(l->path));
}

static bool is_known(const struct leat_daemon *d, const struct leat_dir_look *l)
{
	struct leat_dir_look *known;

	HASH_FIND(hh, d->ops->dir_looks, &l->mtime, key_bytes(l), known);
	return known;
}

void leat_dir_looks_note(struct leat_daemon *d, int step, const char *path)
{
	struct leat_dir_look *l;
	struct timespec mtime;

	if (step < 0 || !leat_step_reads_below(d->matcher, step, path) ||
	    !find_mtime(d, path, &mtime))
		return;
	l = calloc(1, sizeof(*l) + strlen(path) + 1);
	if (!l)
		return;
	l->step = step;
	l->mtime = mtime;
	strcpy(l->path, path);
	if (is_known(d, l) || HASH_COUNT(d->ops->dir_looks) >= MAX_LOOKS) {
		free(l);
		return;
	}
	HASH_ADD(hh, d->ops->dir_looks, mtime, key_bytes(l), l);
	if (!l->hh.tbl)
		free(l);
}

/* The look that `step` has taken that time from, which the directory has no more; NULL: none. Two
 * may have had it, by the kernel's ticks: hardly one that is copied into itself. */
static const struct leat_dir_look *find_look(struct leat_daemon *d, int step, const char *path,
					     struct timespec mtime)
{
	const struct leat_dir_look *l, *around = NULL;
	struct timespec now;

	for (l = d->ops->dir_looks; l; l = l->hh.next) {
		if (l->step != step || !leat_timespec_is_same(mtime, l->mtime) ||
		    strcmp(l->path, path) == 0 || !find_mtime(d, l->path, &now) ||
		    leat_timespec_is_same(mtime, now))
			continue;
		if (!leat_path_is_below(path, l->path))
			return l;
		around = around ? around : l;
	}
	return around;
}

void leat_dir_looks_check(struct leat_daemon *d, int step, enum leat_root root, const char *path)
{
	const struct leat_dir_look *l;
	struct stat st;

	if (!d->ops->dir_looks || !leat_tree_has(d->tree, root, path, &st))
		return;
	l = find_look(d, step, path, st.st_mtim);
	if (l)
		leat_problem_add(d, 0,
				 "step %s gave the directory %s a time that %s had before all was "
				 "in it; have it list that first (ls %s >/dev/null)",
				 d->wf->steps[step].name, path, *l->path ? l->path : ".",
				 *l->path ? l->path : ".");
}

void leat_dir_looks_free(struct leat_daemon *d)
{
	struct leat_dir_look *l, *next;

	HASH_ITER(hh, d->ops->dir_looks, l, next)
	{
		HASH_DEL(d->ops->dir_looks, l);
		free(l);
	}
}
