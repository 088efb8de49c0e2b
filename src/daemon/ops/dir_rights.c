#include "daemon/ops/dir_rights.h"

#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/ops/ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RIGHTS = 07777 };

/* Looks that are remembered: a step may look at every directory of a large tree. */
#define MAX_LOOKS 100000u

/* What a step has seen. */
struct look {
	struct look *next;
	int step;
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

struct leat_dir_rights {
	char *path; /* owned */
	struct look *looks;
	bool reported;
	UT_hash_handle hh;
};

/* Does `before` not come after `step` in a batch? */
static bool may_precede(const struct leat_daemon *d, int before, int step)
{
	return before != step && !leat_is_upstream(d->matcher, step, before);
}

/* Is there a step that may still change what `step` sees? */
static bool is_early(const struct leat_daemon *d, int step)
{
	for (int o = 0; o < (int)d->wf->n_steps; o++)
		if (d->steps[o].state != LEAT_RUN_ENDED && may_precede(d, o, step))
			return true;
	return false;
}

static bool is_same(const struct look *l, const struct stat *st)
{
	return l->mode == (st->st_mode & RIGHTS) && l->uid == st->st_uid && l->gid == st->st_gid;
}

static struct leat_dir_rights *get(struct leat_daemon *d, const char *path)
{
	struct leat_dir_rights *dir;

	HASH_FIND_STR(d->ops->dir_rights, path, dir);
	if (dir)
		return dir;
	dir = calloc(1, sizeof(*dir));
	if (!dir || !(dir->path = strdup(path))) {
		free(dir);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, d->ops->dir_rights, dir->path, strlen(dir->path), dir);
	return dir;
}

static bool has_look(const struct leat_dir_rights *dir, int step, const struct stat *st)
{
	const struct look *l;

	LL_FOREACH(dir->looks, l)
	{
		if (l->step == step && is_same(l, st))
			return true;
	}
	return false;
}

static void warn_full(struct leat_daemon *d)
{
	leat_problem_add(d, 0,
			 "steps look at more than %u directories while steps before them run: "
			 "whether one of those is given another mode or owner is not seen any more",
			 MAX_LOOKS);
}

void leat_dir_rights_note(const struct leat_request *r)
{
	struct leat_daemon *d = r->d;
	struct leat_dir_rights *dir;
	struct look *l;

	if (r->c->step < 0 || d->ops->n_dir_rights > MAX_LOOKS || !is_early(d, r->c->step))
		return;
	dir = get(d, r->found.path);
	if (!dir || has_look(dir, r->c->step, &r->found.st))
		return;
	if (d->ops->n_dir_rights++ == MAX_LOOKS) {
		warn_full(d);
		return;
	}
	l = malloc(sizeof(*l));
	if (!l)
		return;
	*l = (struct look){.step = r->c->step,
			   .mode = r->found.st.st_mode & RIGHTS,
			   .uid = r->found.st.st_uid,
			   .gid = r->found.st.st_gid};
	LL_PREPEND(dir->looks, l);
}

/* What it will have. */
static struct stat after(const struct leat_request *r)
{
	struct stat st = r->found.st;

	if (r->in->rights & LEAT_META_MODE)
		st.st_mode = (st.st_mode & ~(mode_t)RIGHTS) | (r->in->mode & RIGHTS);
	if (r->in->rights & LEAT_META_OWNER && r->in->uid != (uid_t)-1)
		st.st_uid = r->in->uid;
	if (r->in->rights & LEAT_META_OWNER && r->in->gid != (gid_t)-1)
		st.st_gid = r->in->gid;
	return st;
}

static void report(const struct leat_request *r, const struct look *l, const struct stat *st)
{
	const struct leat_daemon *d = r->d;
	const char *seen_by = d->wf->steps[l->step].name,
		   *changed_by = d->wf->steps[r->c->step].name;
	bool ordered = leat_is_upstream(d->matcher, r->c->step, l->step);
	char what[64];

	if (l->mode != (st->st_mode & RIGHTS))
		snprintf(what, sizeof(what), "mode %o", (unsigned)st->st_mode & RIGHTS);
	else
		snprintf(what, sizeof(what), "%s",
			 r->in->rights & LEAT_META_LIST ? "an access control list"
							: "another owner or group");
	leat_problem_add(r->d, 0,
			 "step %s has seen the directory %s with mode %o before step %s, which %s, "
			 "gave it %s; if it goes by that, have it read a file of step %s first",
			 seen_by, *r->found.path ? r->found.path : ".", (unsigned)l->mode,
			 changed_by, ordered ? "in a batch ends before" : "has no order with it",
			 what, changed_by);
}

void leat_dir_rights_change(const struct leat_request *r)
{
	const struct stat st = after(r);
	struct leat_dir_rights *dir;
	const struct look *l;

	if (!r->in->rights || r->c->step < 0)
		return;
	HASH_FIND_STR(r->d->ops->dir_rights, r->found.path, dir);
	if (!dir || dir->reported)
		return;
	LL_FOREACH(dir->looks, l)
	{
		if (!may_precede(r->d, r->c->step, l->step) ||
		    (is_same(l, &st) && !(r->in->rights & LEAT_META_LIST)))
			continue;
		dir->reported = true;
		report(r, l, &st);
		return;
	}
}

void leat_dir_rights_free(struct leat_daemon *d)
{
	struct leat_dir_rights *dir, *next;
	struct look *l, *next_look;

	HASH_ITER(hh, d->ops->dir_rights, dir, next)
	{
		HASH_DEL(d->ops->dir_rights, dir);
		LL_FOREACH_SAFE(dir->looks, l, next_look)
		free(l);
		free(dir->path);
		free(dir);
	}
}
