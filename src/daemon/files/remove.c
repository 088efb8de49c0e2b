/* Removing files, in every place that they are in. */
#include "daemon/files/remove.h"

#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/user.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "store/times.h"

#include <errno.h>
#include <string.h>

/* Nobody but the daemon may search the directory of what was spilled: a user's rights are those in
 * the directory it would be in. */
static int unlink_in(struct leat_daemon *d, const struct leat_user *user, enum leat_root root,
		     const char *name)
{
	int fd = leat_tree_fd(d->tree, root), rc = 0;

	if (fd < 0 ||
	    (user && root == LEAT_ROOT_SPILL && !leat_tree_has(d->tree, root, name, NULL)))
		return -ENOENT;
	if (user && root == LEAT_ROOT_SPILL) {
		rc = leat_user_may_make(user, d->tree, name);
		user = NULL;
	}
	if (!rc)
		rc = leat_user_unlink(user, fd, name, 0);
	if (!rc)
		leat_tree_touch(d->tree, root, name);
	return rc;
}

void leat_unlink_ours(struct leat_daemon *d, const struct leat_user *user, const char *name)
{
	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_SPILL; root++) {
		int rc = unlink_in(d, user, root, name);

		if (rc && rc != -ENOENT && rc != -ENOTDIR && rc != -EISDIR)
			leat_problem_add(d, rc, "cannot remove the old %s: %s", name,
					 strerror(-rc));
	}
}

int leat_unlink_everywhere(struct leat_daemon *d, const struct leat_user *user, const char *name)
{
	bool gone = false;
	int rc = -ENOENT;

	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_DISK; root++) {
		int one = unlink_in(d, user, root, name);

		gone |= !one;
		if (one && one != -ENOENT && one != -ENOTDIR)
			return one;
		rc = one && leat_tree_fd(d->tree, root) >= 0 ? one : rc;
	}
	return gone ? 0 : rc;
}

void leat_file_removed(struct leat_daemon *d, struct leat_file *f, const char *name, int step,
		       pid_t pid, unsigned flags)
{
	leat_file_retire(d, f);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_UNLINK,
						 .step = step,
						 .pid = pid,
						 .name = name,
						 .flags = flags});
}

int leat_file_remove(struct leat_daemon *d, const struct leat_user *user, const char *name,
		     int step, pid_t pid)
{
	struct leat_file *f = leat_file_find(d, name);
	int rc;

	if (f)
		leat_descriptions_hold(d, f);
	rc = leat_unlink_everywhere(d, user, name);
	if (!rc && f)
		leat_file_removed(d, f, name, step, pid, 0);
	return rc;
}

int leat_file_hide_from(struct leat_daemon *d, struct leat_file *f, const struct leat_user *user,
			int step)
{
	int rc = leat_file_note_remover(f, user);

	if (rc)
		return rc;
	d->files->n_hidden += !f->hidden;
	return leat_file_hide(d, f, step);
}

static bool wants(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	enum leat_role role = leat_stream_role(d->stream, step, f->name);

	return !leat_file_is_hidden(f, step) &&
	       (role == LEAT_ROLE_CONSUMER || role == LEAT_ROLE_BOTH) &&
	       leat_file_awaits(d, f, step);
}

bool leat_file_is_wanted(struct leat_daemon *d, const struct leat_file *f, int step)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (i != step && wants(d, f, i) &&
		    (step < 0 || !leat_is_strictly_upstream(d->matcher, step, i)))
			return true;
	return false;
}

bool leat_file_is_wanted_around(struct leat_daemon *d, const struct leat_file *f, int step)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (leat_are_on_cycle(d->matcher, step, i) && wants(d, f, i))
			return true;
	return false;
}

/* As the user who asked for it, by the first step that did. */
static void remove_hidden(struct leat_daemon *d, struct leat_file *f)
{
	int rc = leat_file_remove(d, f->remover, f->name, f->hidden_by, 0);

	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		leat_problem_add(d, rc, "cannot remove %s: %s", f->name, strerror(-rc));
}

void leat_files_remove_hidden(struct leat_daemon *d)
{
	for (uint32_t i = 1; d->files->n_hidden && i <= d->files->n_slots; i++) {
		struct leat_file *f = d->files->by_slot[i];

		if (f->retired || !f->hidden || leat_file_is_wanted(d, f, -1))
			continue;
		d->files->n_hidden--;
		remove_hidden(d, f);
	}
}
