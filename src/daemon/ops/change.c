#include "daemon/ops/change.h"

#include "daemon/ops/enforce.h"
#include "daemon/core/events.h"
#include "daemon/ops/links.h"
#include "daemon/ops/own.h"
#include "daemon/ops/resolve.h"
#include "daemon/space/spill.h"
#include "daemon/run/steps.h"
#include "daemon/core/user.h"
#include "daemon/ops/uses.h"
#include "daemon/ops/versions.h"
#include "store/list.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int leat_change_ask(struct leat_change_request *r, const char *name, enum leat_call call)
{
	struct leat_daemon *d = r->d;
	const struct leat_file_rule *rule = leat_match(d->matcher, name);
	struct leat_file *f = leat_file_find(d, name);
	bool streams;

	if (!rule || rule->excluded || (!rule->declared && !f) ||
	    (leat_stream_role(d->stream, r->c->step, name) == LEAT_ROLE_PRODUCER &&
	     !(call == LEAT_CALL_WRITE && leat_stream_has_versions(d->stream, name))))
		return 0;
	f = leat_file_get(d, name);
	if (!f)
		return -ENFILE;
	leat_file_tell_present(d, f);
	if (leat_file_is_hidden(f, r->c->step))
		return -ENOENT;
	r->on = f;
	return leat_ask_rules(r->c, f, call, 0, 0, &streams);
}

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

int leat_change_remove(struct leat_daemon *d, const struct leat_user *user, const char *name,
		       int step, pid_t pid)
{
	struct leat_file *f = leat_file_find(d, name);
	int rc;

	if (f)
		leat_lives_hold(d, f);
	rc = leat_unlink_everywhere(d, user, name);
	if (rc || !f)
		return rc;
	leat_file_retire(d, f);
	leat_events_apply(d,
			  (struct leat_event){
				  .kind = LEAT_EV_UNLINK, .step = step, .pid = pid, .name = name});
	return 0;
}

/* Is there a step that may still want to read it? */
static bool is_wanted(struct leat_daemon *d, const struct leat_file *f, int step)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++) {
		enum leat_role role = leat_stream_role(d->stream, i, f->name);

		if (i != step && !leat_file_is_hidden(f, i) &&
		    (role == LEAT_ROLE_CONSUMER || role == LEAT_ROLE_BOTH) &&
		    leat_file_awaits(d, f, i))
			return true;
	}
	return false;
}

/* As the user who asked for it, by the first step that did. */
static void remove_hidden(struct leat_daemon *d, struct leat_file *f)
{
	int n = (int)d->wf->n_steps, step = leat_steps_next(f->hidden, 0, n);
	int rc = leat_change_remove(d, f->remover, f->name, step < n ? step : -1, 0);

	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		leat_problem_add(d, rc, "cannot remove %s: %s", f->name, strerror(-rc));
}

void leat_change_settle_hidden(struct leat_daemon *d)
{
	for (uint32_t i = 1; d->n_hidden && i <= d->n_slots; i++) {
		struct leat_file *f = d->by_slot[i];

		if (f->retired || !f->hidden || is_wanted(d, f, -1))
			continue;
		d->n_hidden--;
		remove_hidden(d, f);
	}
}

static int unlink_file(struct leat_change_request *r)
{
	const char *name = r->from.path;
	struct leat_file *f;
	int rc = leat_change_ask(r, name, LEAT_CALL_REMOVE);

	if (rc)
		return rc;
	if (*name && r->from.root == LEAT_ROOT_NONE)
		return -ENOENT;
	if (r->from.last != LEAT_LAST_NAME || S_ISDIR(r->from.st.st_mode))
		return -EISDIR;
	if (r->from.dir_wanted)
		return -ENOTDIR;
	if (leat_versions_keep(r->c, name))
		return 0;
	f = leat_file_find(r->d, name);
	if (f && leat_stream_role(r->d->stream, r->c->step, name) == LEAT_ROLE_CONSUMER &&
	    is_wanted(r->d, f, r->c->step)) {
		rc = leat_user_may_make(r->c->user, r->d->tree, name);
		if (!rc)
			rc = leat_file_note_remover(f, r->c->user);
		if (rc)
			return rc;
		r->d->n_hidden += !f->hidden;
		return leat_file_hide(r->d, f, r->c->step);
	}
	return leat_change_remove(r->d, r->c->user, name, r->c->step, r->c->pid);
}

bool leat_change_is_empty(struct leat_daemon *d, const char *name)
{
	struct leat_listing l = {0};
	int rc = leat_tree_list(d->tree, name, &l);
	/* What may not be read may be removed: the kernel looks itself. */
	bool empty = rc == -EACCES || (rc == 0 && l.n <= 2);

	leat_listing_release(&l);
	return empty;
}

static int remove_directory(struct leat_change_request *r)
{
	struct leat_daemon *d = r->d;
	const char *name = r->from.path;
	struct leat_file *f;
	int rc = -ENOENT;

	if (*name && r->from.root == LEAT_ROOT_NONE)
		return -ENOENT;
	if (r->from.last == LEAT_LAST_DOT)
		return -EINVAL;
	if (r->from.last == LEAT_LAST_DOTDOT)
		return -ENOTEMPTY;
	if (!*name)
		return -EBUSY;
	if (!S_ISDIR(r->from.st.st_mode))
		return -ENOTDIR;
	rc = leat_user_may_make(r->c->user, d->tree, name);
	if (rc)
		return rc;
	if (!leat_change_is_empty(d, name))
		return -ENOTEMPTY;
	rc = -ENOENT;
	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_DISK; root++) {
		const struct leat_user *user = root == LEAT_ROOT_SPILL ? NULL : r->c->user;
		int fd = leat_tree_fd(d->tree, root);
		int one = fd < 0 ? -ENOENT : leat_user_unlink(user, fd, name, AT_REMOVEDIR);

		if (rc == -ENOENT || (one && one != -ENOENT))
			rc = one;
	}
	leat_tree_forget(d->tree);
	if (!rc)
		leat_tree_touch(d->tree, LEAT_ROOT_DISK, name);
	f = leat_file_find(d, name);
	if (rc || !f)
		return rc;
	leat_file_retire(d, f);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_UNLINK,
						 .step = r->c->step,
						 .pid = r->c->pid,
						 .name = name,
						 .flags = LEAT_EVF_DIR});
	return 0;
}

static enum leat_find how_to_find(const struct leat_msg_change *in)
{
	if (in->change != LEAT_CHANGE_LINK)
		return LEAT_FIND_NAME;
	return in->flags & AT_SYMLINK_FOLLOW ? LEAT_FIND_FOLLOW : LEAT_FIND_NOFOLLOW;
}

/* A file on the move stays where it is, or is waited for; so do those in a directory. */
static int settle(struct leat_change_request *r, const struct leat_found *found)
{
	struct leat_file *f;

	while (!found->outside && (f = leat_move_below(r->d, found->path))) {
		if (leat_move_is_live(f)) {
			r->on = f;
			return -EAGAIN;
		}
		leat_move_forget(f);
	}
	return 0;
}

static void withdraw(struct leat_daemon *d, const struct leat_found *found)
{
	struct leat_file *f = found->outside ? NULL : leat_file_find(d, found->path);

	if (f)
		leat_file_withdraw(d, f);
}

static int change(struct leat_change_request *r, const struct leat_msg_change *in, const char *a,
		  const char *b)
{
	int rc = leat_user_find(r->c->user, r->d->tree, a, how_to_find(in), &r->from);
	bool two;

	if (!rc)
		rc = leat_links_ask(r->c, &r->from, &r->on);
	if (!rc)
		rc = leat_own_find_from(r, in->change);
	if (rc || r->is_hidden)
		return rc ? rc : leat_user_may_make(r->c->user, r->d->tree, r->from.path);
	rc = leat_versions_find(r->c, LEAT_CALL_LOOK, &r->from, NULL);
	if (!rc)
		rc = settle(r, &r->from);
	if (rc)
		return rc;
	two = in->change == LEAT_CHANGE_RENAME || in->change == LEAT_CHANGE_LINK;
	if (!two)
		rc = leat_enforce_change(r, in->change);
	if (!two && !rc)
		rc = leat_uses_change(r, in->change);
	if (rc)
		return rc;
	withdraw(r->d, &r->from);
	switch (in->change) {
	case LEAT_CHANGE_UNLINK:
		if (r->from.outside)
			return leat_user_unlink(r->c->user, AT_FDCWD, r->from.path, 0);
		return unlink_file(r);
	case LEAT_CHANGE_RMDIR:
		if (r->from.outside)
			return leat_user_unlink(r->c->user, AT_FDCWD, r->from.path, AT_REMOVEDIR);
		return remove_directory(r);
	default:
		break;
	}
	rc = leat_user_find(r->c->user, r->d->tree, b, LEAT_FIND_NAME, &r->to);
	/* The kernel looks whether there are names before it looks how long they are. */
	if (rc == -ENAMETOOLONG && in->change == LEAT_CHANGE_RENAME &&
	    r->from.last != LEAT_LAST_NAME)
		rc = -EBUSY;
	if (!rc)
		rc = leat_links_ask(r->c, &r->to, &r->on);
	if (!rc)
		rc = leat_own_find_to(r, in->change);
	if (!rc)
		rc = leat_versions_find(r->c, LEAT_CALL_WRITE, &r->to, NULL);
	if (!rc)
		rc = settle(r, &r->to);
	if (!rc)
		rc = leat_enforce_change(r, in->change);
	if (!rc)
		rc = leat_uses_change(r, in->change);
	if (rc)
		return rc;
	withdraw(r->d, &r->to);
	return in->change == LEAT_CHANGE_RENAME ? leat_change_rename(r) : leat_change_link(r);
}

/* Does it concern files whose records are not told of it: other links, what is below? */
static bool concerns_others(const struct leat_change_request *r, uint32_t change)
{
	const struct leat_found *from = &r->from, *to = &r->to;

	if (change == LEAT_CHANGE_LINK || from->outside || to->outside)
		return true;
	return (from->root != LEAT_ROOT_NONE && from->st.st_nlink > 1) ||
	       (change == LEAT_CHANGE_RENAME && to->root != LEAT_ROOT_NONE && to->st.st_nlink > 1);
}

int leat_handle_change(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_change *in = msg;
	struct leat_change_request r = {.c = c, .d = c->d, .flags = in->flags};
	const char *a = leat_wire_string(msg, sizeof(*in), 0);
	const char *b = leat_wire_string(msg, sizeof(*in), 1);
	unsigned violations = c->d->n_violations;
	int rc;

	if (!a || !b || in->change < LEAT_CHANGE_RENAME || in->change > LEAT_CHANGE_ALIKE)
		return -EPROTO;
	if (in->change == LEAT_CHANGE_ALIKE) {
		leat_reply_answer(c, leat_change_alike(c, a, in->flags), NULL, NULL);
		return 0;
	}
	rc = change(&r, in, a, b);
	if (!rc)
		leat_own_changed(&r);
	if (rc != -EAGAIN && concerns_others(&r, in->change))
		leat_shm_changed(c->d->shm);
	if (!rc && c->d->n_violations != violations && !c->d->options.warn_violations)
		rc = -EIO;
	leat_reply_answer(c, rc, rc == -EAGAIN ? r.on : NULL, NULL);
	return 0;
}
