#include "daemon/ops/enforce.h"

#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/ops/change_request.h"
#include "daemon/ops/ops.h"
#include "daemon/ops/request.h"
#include "store/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Refusals of one step that are reported one by one. */
#define MAX_TOLD 50u

enum want { WANT_READ, WANT_WRITE };

/* A file in the workflow's directory that is the command of a step. */
struct leat_daemon_command {
	struct leat_daemon_command *next;
	int step;
	char name[];
};

/* A refusal of a file to a step, reported already. */
struct leat_refusal {
	UT_hash_handle hh;
	char key[]; /* step, what was wanted, name */
};

int leat_enforce_program(struct leat_daemon *d, int step, const char *path)
{
	struct leat_daemon_command *p;
	struct leat_found found;

	if (!d->options.enforce || !*path ||
	    leat_tree_find(d->tree, path, LEAT_FIND_FOLLOW, &found) || found.outside)
		return 0;
	p = malloc(sizeof(*p) + strlen(found.path) + 1);
	if (!p)
		return -ENOMEM;
	p->step = step;
	strcpy(p->name, found.path);
	LL_PREPEND(d->ops->commands, p);
	return 0;
}

void leat_enforce_free(struct leat_daemon *d)
{
	struct leat_daemon_command *p;
	struct leat_refusal *r, *next;

	while ((p = d->ops->commands)) {
		d->ops->commands = p->next;
		free(p);
	}
	HASH_ITER(hh, d->ops->refusals, r, next)
	{
		HASH_DEL(d->ops->refusals, r);
		free(r);
	}
}

/* ---- what was declared ---- */

/* Is it the step's command, or (`above`) a directory on the way to that? */
static bool is_command(const struct leat_daemon *d, int step, const char *name, bool above)
{
	size_t length = strlen(name);
	const struct leat_daemon_command *p;

	LL_FOREACH(d->ops->commands, p)
	{
		if (p->step != step || strncmp(p->name, name, length) != 0)
			continue;
		if (p->name[length] == 0 || (above && (!length || p->name[length] == '/')))
			return true;
	}
	return false;
}

/* What the workflow excludes is left alone, in the directories on the way as well. */
static bool is_excluded_below(const struct leat_workflow *wf, const char *dir)
{
	for (size_t i = 0; i < wf->exclude.n; i++)
		if (leat_pattern_reaches_below(wf->exclude.v[i].text, dir))
			return true;
	return false;
}

/* A directory is a way to what lies in it. The workflow's own is nobody's output. */
static bool may_use_dir(const struct leat_daemon *d, int step, const char *name,
			const struct leat_file_rule *rule, enum want want)
{
	if (rule->excluded || leat_steps_has(rule->producers, step))
		return true;
	if (want == WANT_WRITE)
		return *name && (leat_step_writes_below(d->matcher, step, name) ||
				 is_excluded_below(d->wf, name));
	return !*name || leat_steps_has(rule->consumers, step) ||
	       leat_step_reads_below(d->matcher, step, name) ||
	       leat_step_writes_below(d->matcher, step, name) || is_excluded_below(d->wf, name) ||
	       is_command(d, step, name, true);
}

static bool may_use_file(const struct leat_daemon *d, int step, const char *name,
			 const struct leat_file_rule *rule, enum want want)
{
	if (rule->excluded || leat_steps_has(rule->producers, step))
		return true;
	return want == WANT_READ &&
	       (leat_steps_has(rule->consumers, step) || is_command(d, step, name, false));
}

static bool may_use(const struct leat_daemon *d, int step, const char *name, bool is_dir,
		    enum want want)
{
	const struct leat_file_rule *rule = leat_match(d->matcher, name);

	if (step < 0 || !rule)
		return false;
	return is_dir ? may_use_dir(d, step, name, rule, want)
		      : may_use_file(d, step, name, rule, want);
}

/* ---- reporting it ---- */

/* True the first time. */
static bool is_news(struct leat_daemon *d, int step, const char *name, enum want want)
{
	char *key = leat_strf("%d %d %s", step, (int)want, name);
	struct leat_refusal *r = NULL;

	if (!key)
		return true;
	HASH_FIND_STR(d->ops->refusals, key, r);
	if (!r && (r = malloc(sizeof(*r) + strlen(key) + 1))) {
		strcpy(r->key, key);
		HASH_ADD_STR(d->ops->refusals, key, r);
		if (!r->hh.tbl)
			free(r);
		free(key);
		return true;
	}
	free(key);
	return false;
}

static void report(struct leat_daemon *d, int step, const char *name, bool is_dir, enum want want)
{
	const char *who = step < 0 ? "?" : d->wf->steps[step].name;
	const char *what = want == WANT_WRITE ? "write" : "read";
	const char *declare = want == WANT_WRITE ? "an output" : "an input";

	if (!is_news(d, step, name, want))
		return;
	d->ops->n_refused++;
	if (step >= 0 && ++d->steps[step].n_refused > MAX_TOLD) {
		if (d->steps[step].n_refused == MAX_TOLD + 1)
			leat_problem_add(d, 0, "step %s was refused more files like these", who);
		return;
	}
	if (!*name)
		leat_problem_add(d, 0,
				 "step %s may not change the workflow's directory itself: EACCES "
				 "(--enforce)",
				 who);
	else
		leat_problem_add(d, 0,
				 "step %s may not %s %s%s: EACCES (--enforce); declare it as %s of "
				 "the step, or exclude it",
				 who, what, name, is_dir ? "/" : "", declare);
}

static int check(struct leat_conn *c, const char *name, bool is_dir, enum want want)
{
	if (may_use(c->d, c->step, name, is_dir, want))
		return 0;
	report(c->d, c->step, name, is_dir, want);
	return -EACCES;
}

/* ---- RESOLVE ---- */

static bool opens_for_writing(const struct leat_request *r)
{
	if (r->is_dir && !(r->in->flags & O_CREAT))
		return false; /* the kernel refuses that itself */
	return leat_request_makes(r);
}

static enum want wanted(const struct leat_request *r)
{
	switch (r->in->op) {
	case LEAT_OP_OPEN:
		return opens_for_writing(r) ? WANT_WRITE : WANT_READ;
	case LEAT_OP_MKDIR:
		return r->exists ? WANT_READ : WANT_WRITE; /* mkdir -p looks in this way */
	case LEAT_OP_MAKE:
	case LEAT_OP_META:
	case LEAT_OP_TRUNCATE:
		return WANT_WRITE;
	default:
		return WANT_READ;
	}
}

int leat_enforce_resolve(const struct leat_request *r)
{
	enum want want;
	bool is_dir = r->is_dir || r->in->op == LEAT_OP_MKDIR;

	if (!r->d->options.enforce)
		return 0;
	want = wanted(r);
	if (want == WANT_READ && r->exists && S_ISLNK(r->found.st.st_mode))
		return 0; /* where it leads to is judged by that name */
	/* What is not there and nobody will make can be said to be missing. What another step will
	 * make is refused before and after. */
	if (want == WANT_READ && !r->exists && (!r->rule->declared || leat_request_is_passing(r)))
		return 0;
	if (want == WANT_WRITE && !r->exists && r->found.parent_missing)
		return 0;
	return check(r->c, r->found.path, is_dir, want);
}

/* ---- CHANGE ---- */

/* May the step move all of the directory `from`, to be called `to` (NULL: outside)? */
static int check_below(struct leat_conn *c, const char *from, const char *to)
{
	struct leat_listing names = {0};
	int rc = leat_tree_list(c->d->tree, from, &names);

	for (size_t i = 0; !rc && i < names.n; i++) {
		const struct leat_store_entry *e = &names.v[i];
		char a[PATH_MAX], b[PATH_MAX];
		bool is_dir = e->type == DT_DIR;

		if (leat_is_dots(e->name))
			continue;
		if (!leat_path_put(a, from, e->name) || (to && !leat_path_put(b, to, e->name)))
			rc = -ENAMETOOLONG;
		if (!rc && is_dir)
			rc = check_below(c, a, to ? b : NULL);
		else if (!rc)
			rc = check(c, a, false, WANT_WRITE);
		if (!rc && !is_dir && to)
			rc = check(c, b, false, WANT_WRITE);
	}
	leat_listing_release(&names);
	return rc;
}

static int check_rename(const struct leat_change_request *r)
{
	const char *to = r->to.outside ? NULL : r->to.path;
	bool is_dir = S_ISDIR(r->from.st.st_mode);
	int rc = 0;

	if (!r->from.outside)
		rc = check(r->c, r->from.path, is_dir, WANT_WRITE);
	if (!rc && to)
		rc = check(r->c, to, is_dir, WANT_WRITE);
	if (!rc && is_dir && !r->from.outside)
		rc = check_below(r->c, r->from.path, to);
	return rc;
}

/* Who may write by the one name may then do so by the other. */
static int check_link(const struct leat_change_request *r)
{
	int rc = 0;

	if (!r->from.outside)
		rc = check(r->c, r->from.path, false, WANT_WRITE);
	if (!rc && !r->to.outside)
		rc = check(r->c, r->to.path, false, WANT_WRITE);
	return rc;
}

int leat_enforce_change(const struct leat_change_request *r, uint32_t change)
{
	const struct leat_file_rule *rule;

	if (!r->d->options.enforce)
		return 0;
	rule = r->from.outside ? NULL : leat_match(r->d->matcher, r->from.path);
	/* As for RESOLVE: what is not there, and will not be, is missing. */
	if (rule && r->from.root == LEAT_ROOT_NONE && !rule->declared)
		return 0;
	switch (change) {
	case LEAT_CHANGE_RENAME:
		return check_rename(r);
	case LEAT_CHANGE_LINK:
		return check_link(r);
	default:
		return r->from.outside
			       ? 0
			       : check(r->c, r->from.path, S_ISDIR(r->from.st.st_mode), WANT_WRITE);
	}
}

/* ---- the rest ---- */

int leat_enforce_list(struct leat_conn *c, const char *name)
{
	return c->d->options.enforce ? check(c, name, true, WANT_READ) : 0;
}

bool leat_enforce_fact(const struct leat_conn *c, const struct leat_file *f, bool write)
{
	if (!c->d->options.enforce || !f)
		return true;
	return may_use(c->d, c->step, f->name, false, write ? WANT_WRITE : WANT_READ);
}
