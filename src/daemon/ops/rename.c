/* Rename and link: which place a file is in is a fact of its record, so it stays
 * there and the record says whether that is where its new name belongs. */
#include "daemon/ops/rename.h"

#include "base/beneath.h"
#include "base/fault.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/user.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/persist.h"
#include "daemon/files/publish_name.h"
#include "daemon/files/remove.h"
#include "daemon/files/states.h"
#include "daemon/files/times.h"
#include "daemon/ops/change_request.h"
#include "store/persist.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its name is another one: what follows from its state there. */
static void renew(struct leat_daemon *d, struct leat_file *f)
{
	f->publishes = leat_stream_publishes(d->stream, f->name);
	f->saved = false;
	leat_file_refresh(d, f, leat_stream_state(d->stream, f->name));
	leat_file_finish_loose(d, f);
	if (f->keep && !f->descriptions)
		leat_file_persist(d, f);
}

static void retire(struct leat_daemon *d, const char *name)
{
	struct leat_file *f = leat_file_find(d, name);

	if (f)
		leat_file_retire(d, f);
}

static void hold(struct leat_daemon *d, const char *name)
{
	struct leat_file *f = leat_file_find(d, name);

	if (f)
		leat_descriptions_hold(d, f);
}

static bool is_known(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule = leat_match(d->matcher, name);

	return leat_file_find(d, name) || (rule && leat_rule_matters(rule));
}

static bool is_declared(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule = leat_match(d->matcher, name);

	return rule && rule->declared && !rule->excluded;
}

/* Who writes a file that is not declared is not known, until it is given a declared name: the rules
 * get the OPEN then, by its name `known`. True if there was one to apply. */
static bool report_writers(struct leat_change_request *r, struct leat_file *f, enum leat_root root,
			   const char *known, unsigned flags)
{
	struct leat_daemon *d = r->d;
	struct leat_description *l;
	struct stat st;
	int fd;

	if (f->descriptions || !is_declared(d, r->to.path) ||
	    (!r->from.outside && is_declared(d, r->from.path)) ||
	    !leat_tree_has(d->tree, root, r->to.path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = leat_beneath_open_regular(leat_tree_fd(d->tree, root), r->to.path, O_RDONLY);
	l = fd < 0 ? NULL : leat_description_unreported(d, f, r->c, fd);
	if (!l)
		return false;
	l->counted = leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_OPEN,
							      .step = r->c->step,
							      .pid = r->c->pid,
							      .ofd = l->id,
							      .flags = flags,
							      .name = known}) == 0;
	return true;
}

static void report_rename(struct leat_change_request *r, bool is_dir)
{
	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_RENAME,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = r->from.path,
						    .to = r->to.path,
						    .flags = is_dir ? LEAT_EVF_DIR : 0});
}

static int rename_record(struct leat_change_request *r, enum leat_root root)
{
	struct leat_daemon *d = r->d;
	struct leat_file *f;
	int rc;

	if (!is_known(d, r->from.path) && !is_known(d, r->to.path))
		return 0;
	f = leat_file_get(d, r->from.path);
	if (!f)
		return -ENFILE;
	retire(d, r->to.path);
	report_writers(r, f, root, r->from.path, 0);
	rc = leat_file_rename(d, f, r->to.path);
	if (rc)
		return rc;
	leat_file_note_root(d, f, root);
	report_rename(r, false);
	renew(d, f);
	return 0;
}

/* As who asked: it is there by the same rights as what was moved. */
static void clear(struct leat_change_request *r, enum leat_root o, const char *path, int flags)
{
	const struct leat_user *user = o == LEAT_ROOT_SPILL ? NULL : r->c->user;
	int fd = leat_tree_fd(r->d->tree, o);
	int rc = fd < 0 ? 0 : leat_user_unlink(user, fd, path, flags);

	if (rc == -EACCES || rc == -EPERM)
		leat_problem_add(r->d, rc, "cannot remove the old %s: %s", path, strerror(-rc));
}

/* What other places than `root` have of these names goes: a copy on disk of what the
 * store has, and what would hide the new one. */
static void clear_others(struct leat_change_request *r, enum leat_root root)
{
	for (enum leat_root o = LEAT_ROOT_STORE; o <= LEAT_ROOT_DISK; o++) {
		if (o == root)
			continue;
		clear(r, o, r->from.path, 0);
		if (o != LEAT_ROOT_DISK)
			clear(r, o, r->to.path, 0);
	}
}

static int rename_file(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	enum leat_root root = r->from.root;
	int fd = leat_tree_fd(d->tree, root);
	int rc = leat_tree_make_parents(d->tree, root, r->to.path);

	if (rc)
		return rc;
	hold(d, r->from.path);
	hold(d, r->to.path);
	rc = leat_user_rename(r->c->user, fd, r->from.path, fd, r->to.path, 0);
	if (rc)
		return rc;
	LEAT_FAULT("rename.made");
	clear_others(r, root);
	leat_tree_touch(d->tree, root, r->from.path);
	leat_tree_touch(d->tree, root, r->to.path);
	return rename_record(r, root);
}

/* ---- directories ---- */

static int rename_dir_in(struct leat_change_request *r, enum leat_root root)
{
	struct leat_daemon *d = r->d;
	int fd = leat_tree_fd(d->tree, root), rc;

	if (fd < 0)
		return 0;
	if (!leat_tree_has(d->tree, root, r->from.path, NULL)) {
		/* an empty directory of the new name would be found here */
		clear(r, root, r->to.path, AT_REMOVEDIR);
		return 0;
	}
	rc = leat_tree_make_parents(d->tree, root, r->to.path);
	if (rc)
		return rc;
	/* nobody else may search the directory of what was spilled */
	return leat_user_rename(root == LEAT_ROOT_SPILL ? NULL : r->c->user, fd, r->from.path, fd,
				r->to.path, 0);
}

static int rename_below(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	size_t n, skip = strlen(r->from.path);
	struct leat_file **v = leat_files_below(d, r->from.path, &n);
	char name[PATH_MAX];
	enum leat_root root;
	int rc = v ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < n; i++) {
		if (snprintf(name, sizeof(name), "%s%s", r->to.path, v[i]->name + skip) >=
		    (int)sizeof(name))
			rc = -ENAMETOOLONG;
		else {
			retire(d, name);
			leat_file_withdraw_name(d, v[i]);
			rc = leat_file_rename(d, v[i], name);
		}
		if (!rc && leat_tree_look(d->tree, name, &root, NULL) == 0)
			leat_file_note_root(d, v[i], root);
	}
	report_rename(r, true);
	for (size_t i = 0; !rc && i < n; i++)
		renew(d, v[i]);
	free(v);
	return rc;
}

static bool have_same_parent(const char *a, const char *b)
{
	const char *ends = strrchr(a, '/'), *also = strrchr(b, '/');

	return ends && also ? ends - a == also - b && strncmp(a, b, (size_t)(ends - a)) == 0
			    : !ends && !also;
}

static int rename_dir(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	struct leat_description *l, *next;
	enum leat_root root;
	int rc = 0;

	if (r->to.root != LEAT_ROOT_NONE && !S_ISDIR(r->to.st.st_mode))
		return -ENOTDIR;
	/* Its ".." changes. */
	if (!have_same_parent(r->from.path, r->to.path))
		rc = leat_user_access(r->c->user, leat_tree_fd(d->tree, r->from.root), r->from.path,
				      W_OK);
	if (rc)
		return rc;
	if (r->to.root != LEAT_ROOT_NONE)
		rc = leat_change_await_empty(r, r->to.path);
	if (rc)
		return rc;
	HASH_ITER(hh, d->files->descriptions, l, next)
	leat_descriptions_hold(d, l->file);
	for (root = LEAT_ROOT_STORE; !rc && root <= LEAT_ROOT_DISK; root++)
		rc = rename_dir_in(r, root);
	leat_tree_forget(d->tree);
	LEAT_FAULT("rename.directory");
	if (!rc) {
		leat_tree_touch(d->tree, LEAT_ROOT_DISK, r->from.path);
		leat_tree_touch(d->tree, LEAT_ROOT_DISK, r->to.path);
		return rename_below(r);
	}
	/* the last one failed: back with those before it */
	for (root -= 2; root >= LEAT_ROOT_STORE; root--) {
		int fd = leat_tree_fd(d->tree, root);

		leat_user_rename(root == LEAT_ROOT_SPILL ? NULL : r->c->user, fd, r->to.path, fd,
				 r->from.path, 0);
	}
	return rc;
}

/* ---- across the border of the workflow's directory ---- */

static int move_out(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	int root = leat_tree_fd(d->tree, r->from.root);
	int rc, in;

	if (r->from.root == LEAT_ROOT_DISK) {
		hold(d, r->from.path);
		rc = leat_user_rename(r->c->user, root, r->from.path, AT_FDCWD, r->to.path,
				      r->flags);
		if (rc)
			return rc;
	} else {
		if (!S_ISREG(r->from.st.st_mode) || r->flags || r->c->user)
			return -EXDEV;
		in = leat_beneath_open_regular(root, r->from.path, O_RDONLY);
		if (in < 0)
			return in;
		rc = leat_persist_file(AT_FDCWD, r->to.path, in);
		close(in);
		if (rc)
			return rc;
	}
	leat_tree_forget(d->tree);
	LEAT_FAULT("rename.out");
	rc = leat_file_remove(d, r->c->user, r->from.path, r->c->step, r->c->pid);
	return rc == -ENOENT ? 0 : rc;
}

static void report_creation(struct leat_change_request *r, const char *source)
{
	leat_events_apply(
		r->d, (struct leat_event){.kind = LEAT_EV_CREATE,
					  .step = r->c->step,
					  .pid = r->c->pid,
					  .name = r->to.path,
					  .to = source,
					  .flags = S_ISDIR(r->from.st.st_mode) ? LEAT_EVF_DIR : 0});
}

static int report_arrival(struct leat_change_request *r, enum leat_root root, const char *source)
{
	struct leat_daemon *d = r->d;
	struct leat_file *f, *linked;
	bool writers;

	retire(d, r->to.path);
	if (!is_known(d, r->to.path) && !(source && is_known(d, source)))
		return 0;
	f = leat_file_get(d, r->to.path);
	if (!f)
		return -ENFILE;
	/* A source from before the run is made known, or the two names would be two contents. */
	linked = source && is_known(d, source) ? leat_file_get(d, source) : NULL;
	if (linked)
		leat_file_report_present(d, linked);
	f->reported = f->made = true;
	leat_file_note_root(d, f, root);
	if (r->from.outside)
		leat_times_arrived(d, f, r->c->step, &r->from.st);
	writers = report_writers(r, f, root, source ? source : r->to.path,
				 source ? 0 : LEAT_EVF_CREAT);
	/* What comes from outside and is open has been made by that. */
	if (source || !writers)
		report_creation(r, source);
	renew(d, f);
	return 0;
}

static int move_in(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	int rc = leat_tree_make_parents(d->tree, LEAT_ROOT_DISK, r->to.path);

	if (rc)
		return rc;
	rc = leat_user_stat(r->c->user, AT_FDCWD, r->from.path, &r->from.st);
	if (rc)
		return rc;
	hold(d, r->to.path);
	rc = leat_user_rename(r->c->user, AT_FDCWD, r->from.path,
			      leat_tree_fd(d->tree, LEAT_ROOT_DISK), r->to.path, r->flags);
	if (rc)
		return rc;
	LEAT_FAULT("rename.in");
	leat_unlink_ours(d, r->c->user, r->to.path);
	leat_tree_touch(d->tree, LEAT_ROOT_DISK, r->to.path);
	leat_tree_forget(d->tree);
	return report_arrival(r, LEAT_ROOT_DISK, NULL);
}

/* ---- the calls ---- */

static bool is_name(const struct leat_found *f)
{
	return *f->path && f->last == LEAT_LAST_NAME;
}

/* In the order in which the kernel looks. */
static int check_rename(struct leat_change_request *r)
{
	bool from_dir;

	/* Programs know file systems that cannot do the rest. */
	if (r->flags & ~(unsigned)RENAME_NOREPLACE)
		return -EINVAL;
	if (r->from.parent_missing || r->to.parent_missing)
		return -ENOENT;
	if (!is_name(&r->from))
		return -EBUSY;
	if (!is_name(&r->to))
		return r->flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (r->from.root == LEAT_ROOT_NONE)
		return -ENOENT;
	from_dir = S_ISDIR(r->from.st.st_mode);
	if (r->flags & RENAME_NOREPLACE && r->to.root != LEAT_ROOT_NONE)
		return -EEXIST;
	if (!from_dir && (r->from.dir_wanted || r->to.dir_wanted))
		return -ENOTDIR;
	if (leat_path_is_below(r->to.path, r->from.path))
		return -EINVAL;
	return leat_path_is_below(r->from.path, r->to.path) ? -ENOTEMPTY : 0;
}

static bool is_same(const struct leat_change_request *r)
{
	if (strcmp(r->from.path, r->to.path) == 0)
		return true;
	return r->to.root == r->from.root && r->to.st.st_ino == r->from.st.st_ino &&
	       r->to.st.st_dev == r->from.st.st_dev;
}

/* The kernel looks at them before it looks into a directory. */
static int check_rights(const struct leat_change_request *r)
{
	const struct leat_user *user = r->c->user;
	int rc = leat_user_may_make(user, r->d->tree, r->from.path);

	if (!rc)
		rc = leat_user_may_make(user, r->d->tree, r->to.path);
	return rc;
}

int leat_change_rename(struct leat_change_request *r)
{
	int rc;

	if (r->from.outside && r->to.outside)
		return leat_user_rename(r->c->user, AT_FDCWD, r->from.path, AT_FDCWD, r->to.path,
					r->flags);
	if (r->from.outside)
		return move_in(r);
	rc = leat_change_ask(r, r->from.path, LEAT_CALL_REMOVE);
	if (rc)
		return rc;
	/* Not the workflow's directory itself. */
	if (r->to.outside && !is_name(&r->from))
		return -EBUSY;
	if (r->to.outside)
		return r->from.root == LEAT_ROOT_NONE ? -ENOENT : move_out(r);
	rc = check_rename(r);
	if (rc)
		return rc;
	if (is_same(r))
		return 0;
	rc = check_rights(r);
	if (rc)
		return rc;
	if (S_ISDIR(r->from.st.st_mode))
		return rename_dir(r);
	rc = r->d->has_views ? leat_change_ask(r, r->to.path, LEAT_CALL_WRITE) : 0;
	if (rc && rc != -ENOENT)
		return rc;
	if (r->to.root != LEAT_ROOT_NONE && S_ISDIR(r->to.st.st_mode))
		return -EISDIR;
	return rename_file(r);
}

int leat_change_link(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	enum leat_root root = r->from.outside ? LEAT_ROOT_DISK : r->from.root;
	int from = r->from.outside ? AT_FDCWD : leat_tree_fd(d->tree, root);
	int to = r->to.outside ? AT_FDCWD : leat_tree_fd(d->tree, root);
	int rc = r->from.outside ? 0 : leat_change_ask(r, r->from.path, LEAT_CALL_LOOK);

	if (rc)
		return rc;
	if (!r->from.outside && r->from.root == LEAT_ROOT_NONE)
		return -ENOENT;
	if (!r->to.outside && r->to.root != LEAT_ROOT_NONE)
		return -EEXIST;
	if (!r->to.outside) {
		if (r->to.parent_missing || r->to.dir_wanted)
			return -ENOENT;
		rc = leat_tree_make_parents(d->tree, root, r->to.path);
	}
	if (!rc)
		rc = leat_user_link(r->c->user, from, r->from.path, to, r->to.path);
	if (rc || r->to.outside)
		return rc;
	leat_tree_touch(d->tree, root, r->to.path);
	return report_arrival(r, root, r->from.outside ? NULL : r->from.path);
}
