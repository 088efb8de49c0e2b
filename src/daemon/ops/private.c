#include "daemon/ops/private.h"

#include "base/fd.h"
#include "base/private.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/user.h"
#include "daemon/files/files.h"
#include "daemon/files/private.h"
#include "daemon/ops/change_request.h"
#include "daemon/ops/request.h"
#include "daemon/ops/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* As the kernel. */
#define MAX_LINKS 40u

/* What a call does to a name. */
enum what {
	LOOKS = 0,
	MAKES = 1,
	CHANGES = 2,
	EMPTIES = 4, /* with CHANGES: what was in it does not matter */
	LINKS = 8,   /* a symlink, or another name of a file, is there afterwards */
};

static bool has_private(const struct leat_conn *c)
{
	return c->step >= 0 && c->d->wf->steps[c->step].private.n;
}

static bool is_hidden(const struct leat_conn *c, const char *name)
{
	return leat_private_hides(c->d, c->step, name);
}

static bool is_private(const struct leat_conn *c, const char *name)
{
	const struct leat_file_rule *rule;

	if (!*name || !leat_step_keeps(&c->d->wf->steps[c->step], name))
		return false;
	rule = leat_match(c->d->matcher, name);
	return rule && !rule->excluded && !leat_rule_produced(c->d, rule);
}

static int report_use(struct leat_conn *c, const char *name, enum leat_use use)
{
	return leat_uses_report(c, &(struct leat_use_report){.name = name, .use = use}, false);
}

/* From now on others that look for it get the answer that it is not theirs. `links`: by that name
 * they would have got at another file. */
static int report_own(struct leat_conn *c, const char *name, bool links)
{
	return leat_uses_report(c,
				&(struct leat_use_report){.name = name,
							  .use = LEAT_USE_OWN,
							  .flags = links ? LEAT_EVF_SYMLINK : 0},
				links);
}

static bool is_link(const struct stat *st)
{
	return S_ISLNK(st->st_mode) || (S_ISREG(st->st_mode) && st->st_nlink > 1);
}

/* The step changes, replaces or removes for itself what was there before, which stays for others:
 * a conflict is reported if they use it, as in a batch it would be otherwise. */
static int leave_old(struct leat_conn *c, const char *name, bool links)
{
	if (leat_stream_use_is_news(c->d->stream, c->step, name, LEAT_USE_OWN, false))
		leat_problem_add(c->d, 0,
				 "step %s changes %s, which was there before and is private to it: "
				 "for others, and after the run, it stays as it was",
				 c->d->wf->steps[c->step].name, name);
	return report_own(c, name, links);
}

/* What the step writes does not reach the other names of what was there. */
static int refuse_linked(struct leat_conn *c, const char *name)
{
	leat_problem_add(c->d, -EIO,
			 "step %s changes %s, which is private to it and has other names (hard "
			 "links): in a batch they would change with it; let it be a copy, or not "
			 "private",
			 c->d->wf->steps[c->step].name, name);
	return -EIO;
}

/* Of what the asking user reaches by that name. */
static int copy(struct leat_conn *c, const struct leat_found *found, const char *own, bool empty)
{
	int rc = report_use(c, found->path, LEAT_USE_READ);
	int from = rc ? rc
		      : leat_user_hold(c->user, leat_tree_fd(c->d->tree, found->root), found->path);

	if (from < 0)
		return from;
	rc = leat_tree_copy(c->d->tree, from, LEAT_ROOT_DISK, own, empty);
	leat_close(&from);
	return rc;
}

/* The directory in which the step's own is to be; one that is its own, too, is nobody's else. */
static int need_parent(struct leat_conn *c, const struct leat_found *found)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", found->path);
	slash = strrchr(dir, '/');
	if (!slash)
		return 0;
	*slash = 0;
	return is_private(c, dir) ? 0 : leat_uses_parent(c, found);
}

/* It is about to be made: `found` is where, afterwards. */
static int make(struct leat_conn *c, enum leat_find how, enum what what, struct leat_found *found)
{
	struct leat_daemon *d = c->d;
	bool copies = what & CHANGES && found->root != LEAT_ROOT_NONE && !is_hidden(c, found->path);
	char own[PATH_MAX];
	int rc = need_parent(c, found);

	if (!rc)
		rc = leat_private_make_parents(d, c->step, found->path);
	if (!rc && !leat_private_name(c->d, c->step, found->path, own))
		rc = -ENAMETOOLONG;
	if (!rc && !copies && !(what & EMPTIES))
		rc = report_use(c, found->path, LEAT_USE_SEEK); /* it begins with nothing */
	if (!rc)
		rc = copies ? leave_old(c, found->path, what & LINKS || is_link(&found->st))
			    : report_own(c, found->path, what & LINKS);
	if (!rc && copies && S_ISREG(found->st.st_mode) && found->st.st_nlink > 1)
		rc = refuse_linked(c, found->path);
	if (!rc && copies)
		rc = copy(c, found, own, what & EMPTIES);
	return rc ? rc : leat_user_find(c->user, d->tree, own, how, found);
}

/* Is it a plain file, before the run, of which the step is to have one of its own? */
static bool is_copied(const struct leat_found *found, enum what what)
{
	return what & CHANGES && (S_ISREG(found->st.st_mode) || S_ISLNK(found->st.st_mode));
}

static int find(struct leat_conn *c, enum leat_find how, enum what what, struct leat_found *found,
		unsigned links);

/* A symlink of the step's own leads to a name in the workflow's directory, not beside it. */
static int follow(struct leat_conn *c, enum leat_find how, enum what what,
		  const struct leat_found *own, struct leat_found *found, unsigned links)
{
	char top[PATH_MAX], to[PATH_MAX];
	size_t length;
	int rc;

	if (own->outside || !leat_private_name(c->d, c->step, "", top)) {
		*found = *own;
		return 0;
	}
	length = strlen(top);
	snprintf(to, sizeof(to), "%s",
		 strncmp(own->path, top, length) == 0 && own->path[length] == '/'
			 ? own->path + length + 1
			 : own->path);
	if (links >= MAX_LINKS)
		return -ELOOP;
	rc = leat_user_find(c->user, c->d->tree, to, how, found);
	return rc ? rc : find(c, how, what, found, links + 1);
}

/* The step has no own file of that name, nor a directory in which it would be. */
static int find_shared(struct leat_conn *c, enum leat_find how, enum what what,
		       struct leat_found *found)
{
	bool hidden = is_hidden(c, found->path), is_there = found->root != LEAT_ROOT_NONE;

	/* An earlier step may still change it: the rules will have the call wait. */
	if (is_there && !hidden &&
	    leat_stream_holder(c->d->stream, c->step, found->path, false) >= 0)
		return 0;
	if (hidden     ? what & MAKES
	    : is_there ? is_copied(found, what)
		       : what & MAKES && !found->parent_missing)
		return make(c, how, what, found);
	if (hidden)
		found->root = LEAT_ROOT_NONE;
	return 0;
}

static int find(struct leat_conn *c, enum leat_find how, enum what what, struct leat_found *found,
		unsigned links)
{
	struct leat_found own;
	char name[PATH_MAX];
	int rc;

	if (!has_private(c) || found->outside || !is_private(c, found->path))
		return 0;
	if (!leat_private_name(c->d, c->step, found->path, name))
		return find_shared(c, how, what, found);
	rc = leat_user_find(c->user, c->d->tree, name, how, &own);
	if (rc)
		return rc;
	if (strcmp(own.path, name) != 0)
		return follow(c, how, what, &own, found, links);
	if (own.root == LEAT_ROOT_NONE &&
	    (own.parent_missing || (found->root != LEAT_ROOT_NONE && !is_hidden(c, found->path))))
		return find_shared(c, how, what, found);
	/* Looked for in vain: an earlier step may be about to make it. */
	if (own.root == LEAT_ROOT_NONE && !(what & MAKES) && !is_hidden(c, found->path))
		return 0;
	if (what & LINKS || (own.root == LEAT_ROOT_NONE && what & MAKES))
		rc = report_own(c, found->path, what & LINKS);
	*found = own;
	return rc;
}

int leat_private_find(struct leat_conn *c, const char *path, enum leat_find how,
		      struct leat_found *found)
{
	int rc = leat_user_find(c->user, c->d->tree, path, how, found);

	if (rc || !found->before_up || !has_private(c) || !is_private(c, found->path))
		return rc;
	how = (enum leat_find)(how | LEAT_FIND_SPELT);
	return leat_user_find(c->user, c->d->tree, path, how, found);
}

/* ---- RESOLVE ---- */

static enum what what_of(const struct leat_request *r)
{
	unsigned flags = r->in->flags, mode = flags & O_ACCMODE;
	enum what what = LOOKS;

	switch (r->in->op) {
	case LEAT_OP_OPEN:
		if ((flags & O_TMPFILE) == O_TMPFILE || flags & O_PATH)
			return LOOKS;
		if (flags & O_CREAT)
			what |= MAKES;
		if (flags & O_CREAT && flags & O_EXCL)
			return what;
		if (mode == O_WRONLY || mode == O_RDWR || flags & O_TRUNC)
			what |= CHANGES;
		return flags & O_TRUNC ? what | EMPTIES : what;
	case LEAT_OP_MKDIR:
		return MAKES;
	case LEAT_OP_MAKE:
		return S_ISLNK((mode_t)r->in->mode) ? MAKES | LINKS : MAKES;
	case LEAT_OP_META:
	case LEAT_OP_TRUNCATE:
		return CHANGES;
	default:
		return LOOKS;
	}
}

int leat_private_resolve(struct leat_request *r)
{
	return find(r->c, leat_request_how(r), what_of(r), &r->found, 0);
}

/* ---- CHANGE ---- */

/* The step's own is removed or moved away, or what was there before is hidden from it. */
static int find_removed(struct leat_change_request *r, bool moved)
{
	char name[PATH_MAX];
	bool links = is_link(&r->from.st);
	int rc;

	if (!has_private(r->c) || r->from.outside || !is_private(r->c, r->from.path))
		return 0;
	memcpy(name, r->from.path, sizeof(name));
	if (r->from.root != LEAT_ROOT_NONE && !is_hidden(r->c, name))
		memcpy(r->hides, name, sizeof(name));
	rc = find(r->c, LEAT_FIND_NAME, moved ? CHANGES : LOOKS, &r->from, 0);
	/* What was there before stays for others, and may be a link, too. */
	if (!rc && !*r->hides && !is_hidden(r->c, name) && r->from.root != LEAT_ROOT_NONE &&
	    is_link(&r->from.st))
		memcpy(r->leaves, name, sizeof(name));
	r->is_hidden = !rc && !moved && *r->hides && strcmp(r->from.path, name) == 0;
	return r->is_hidden ? leave_old(r->c, name, links) : rc;
}

/* A file of the step's own that a program finds below `dir`. */
static bool find_own_below(struct leat_conn *c, const char *dir, char below[PATH_MAX])
{
	struct leat_listing own = {0};
	char path[PATH_MAX];
	bool found = false;

	if (!leat_private_name(c->d, c->step, dir, path) ||
	    leat_tree_list(c->d->tree, path, &own) != 0)
		return false;
	for (size_t i = 0; i < own.n && !found; i++) {
		if (leat_is_dots(own.v[i].name) || !leat_path_put(path, dir, own.v[i].name))
			continue;
		found = is_private(c, path);
		if (found)
			memcpy(below, path, PATH_MAX);
		else if (own.v[i].type == DT_DIR)
			found = find_own_below(c, path, below);
	}
	leat_listing_release(&own);
	return found;
}

/* It would stay where it is. */
static int refuse_with_own(struct leat_change_request *r, uint32_t change)
{
	char below[PATH_MAX];

	if (!has_private(r->c) || r->from.outside || r->from.root == LEAT_ROOT_NONE ||
	    !S_ISDIR(r->from.st.st_mode) || is_private(r->c, r->from.path) ||
	    (!find_own_below(r->c, r->from.path, below) &&
	     !(change == LEAT_CHANGE_RENAME &&
	       leat_private_hides_below(r->d, r->c->step, r->from.path, below))))
		return 0;
	if (change == LEAT_CHANGE_RMDIR)
		return -ENOTEMPTY;
	leat_problem_add(r->d, -EIO,
			 "step %s renames %s, in which %s is private to it and cannot go along: "
			 "have what is private in a directory that keeps its name",
			 r->d->wf->steps[r->c->step].name, r->from.path, below);
	return -EIO;
}

int leat_private_find_from(struct leat_change_request *r, uint32_t change)
{
	int rc = 0;

	if (change == LEAT_CHANGE_RENAME || change == LEAT_CHANGE_RMDIR)
		rc = refuse_with_own(r, change);
	if (rc)
		return rc;
	/* Both names are one file: what is written by either is not to reach what was there. */
	if (change == LEAT_CHANGE_LINK)
		return find(r->c,
			    r->flags & AT_SYMLINK_FOLLOW ? LEAT_FIND_FOLLOW : LEAT_FIND_NOFOLLOW,
			    CHANGES | LINKS, &r->from, 0);
	return find_removed(r, change == LEAT_CHANGE_RENAME);
}

int leat_private_find_to(struct leat_change_request *r, uint32_t change)
{
	bool there =
		r->to.root != LEAT_ROOT_NONE && has_private(r->c) && !is_hidden(r->c, r->to.path);
	enum what links = change == LEAT_CHANGE_LINK || is_link(&r->from.st) ? LINKS : LOOKS;

	if (there && is_private(r->c, r->to.path) &&
	    (change == LEAT_CHANGE_LINK || r->flags & 1u /* RENAME_NOREPLACE */))
		return find(r->c, LEAT_FIND_NAME, LOOKS, &r->to, 0);
	if (there && is_private(r->c, r->to.path)) {
		int rc = leave_old(r->c, r->to.path, links || is_link(&r->to.st));

		if (rc)
			return rc;
		r->to.root = LEAT_ROOT_NONE;
		r->to.parent_missing = false;
	}
	return find(r->c, LEAT_FIND_NAME, MAKES | links, &r->to, 0);
}

void leat_private_changed(struct leat_change_request *r)
{
	if (*r->hides)
		leat_private_hide(r->d, r->c->step, r->hides);
	if (*r->leaves) /* should that fail, it counts as a link still */
		(void)leat_uses_report(
			r->c, &(struct leat_use_report){.name = r->leaves, .use = LEAT_USE_OWN},
			true);
}

/* ---- listings ---- */

int leat_private_find_dir(struct leat_conn *c, struct leat_found *found)
{
	if (found->outside ||
	    (found->root != LEAT_ROOT_NONE && !(has_private(c) && is_hidden(c, found->path))))
		return 0;
	return find(c, LEAT_FIND_FOLLOW, LOOKS, found, 0);
}

bool leat_private_shows(struct leat_conn *c, const char *dir, const char *name)
{
	char path[PATH_MAX];

	return !c->d->files->private.hidden || !has_private(c) || !leat_path_put(path, dir, name) ||
	       !is_hidden(c, path);
}

int leat_private_list(struct leat_conn *c, const char *dir,
		      int (*add)(void *ctx, const struct leat_store_entry *e), void *ctx)
{
	struct leat_listing own = {0};
	char path[PATH_MAX];
	int rc;

	if (!has_private(c) || leat_str_begins(dir, LEAT_PRIVATE_PREFIX) ||
	    !leat_private_name(c->d, c->step, dir, path))
		return 0;
	rc = leat_tree_list(c->d->tree, path, &own);
	for (size_t i = 0; !rc && i < own.n; i++)
		if (!leat_is_dots(own.v[i].name) && leat_path_put(path, dir, own.v[i].name) &&
		    is_private(c, path))
			rc = add(ctx, &own.v[i]);
	leat_listing_release(&own);
	return rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
}
