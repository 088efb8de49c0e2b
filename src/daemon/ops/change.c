#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/replies.h"
#include "daemon/core/user.h"
#include "daemon/files/files.h"
#include "daemon/files/moving.h"
#include "daemon/files/publish_name.h"
#include "daemon/files/remove.h"
#include "daemon/files/states.h"
#include "daemon/ops/alike.h"
#include "daemon/ops/change_request.h"
#include "daemon/ops/earlier.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/links.h"
#include "daemon/ops/private.h"
#include "daemon/ops/rename.h"
#include "daemon/ops/uses.h"
#include "daemon/ops/versions.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
	/* What was there before the run is missed by the steps before its producer. */
	f = leat_stream_role(r->d->stream, r->c->step, name) == LEAT_ROLE_PRODUCER
		    ? leat_file_get(r->d, name)
		    : leat_file_find(r->d, name);
	if (f && leat_stream_role(r->d->stream, r->c->step, name) == LEAT_ROLE_CONSUMER &&
	    leat_file_is_wanted(r->d, f, r->c->step)) {
		rc = leat_user_may_make(r->c->user, r->d->tree, name);
		return rc ? rc : leat_file_hide_from(r->d, f, r->c->user, r->c->step);
	}
	return leat_file_remove(r->d, r->c->user, name, r->c->step, r->c->pid);
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
	rc = leat_change_await_empty(r, name);
	if (rc)
		return rc;
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
	if (!rc && f)
		leat_file_removed(d, f, name, r->c->step, r->c->pid, LEAT_EVF_DIR);
	return rc;
}

static enum leat_find how_to_find(const struct leat_msg_change *in)
{
	if (in->change != LEAT_CHANGE_LINK)
		return LEAT_FIND_NAME;
	return in->flags & AT_SYMLINK_FOLLOW ? LEAT_FIND_FOLLOW : LEAT_FIND_NOFOLLOW;
}

/* A file on the move stays where it is, or is waited for; so do those in a directory. One that
 * another step is just making is waited for. */
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
	f = found->outside ? NULL : leat_file_find(r->d, found->path);
	if (f && leat_earlier_is_making(r->c, f, found->root != LEAT_ROOT_NONE)) {
		r->on = f;
		return -EAGAIN;
	}
	return 0;
}

static void withdraw(struct leat_daemon *d, const struct leat_found *found)
{
	struct leat_file *f = found->outside ? NULL : leat_file_find(d, found->path);

	if (f)
		leat_file_withdraw_name(d, f);
}

static int change(struct leat_change_request *r, const struct leat_msg_change *in, const char *a,
		  const char *b)
{
	int rc = leat_private_find(r->c, a, how_to_find(in), &r->from);
	bool two;

	rc = leat_links_ask(r->c, &r->from, rc, &r->on);
	if (!rc)
		rc = leat_private_find_from(r, in->change);
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
	rc = leat_private_find(r->c, b, LEAT_FIND_NAME, &r->to);
	/* The kernel looks whether there are names before it looks how long they are. */
	if (rc == -ENAMETOOLONG && in->change == LEAT_CHANGE_RENAME &&
	    r->from.last != LEAT_LAST_NAME)
		rc = -EBUSY;
	rc = leat_links_ask(r->c, &r->to, rc, &r->on);
	if (!rc)
		rc = leat_private_find_to(r, in->change);
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

/* Does it concern files whose records do not follow it: other links, what is below? */
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
		leat_reply_answer(c, leat_change_alike(c, a, in->flags), 0, NULL);
		return 0;
	}
	rc = change(&r, in, a, b);
	if (!rc)
		leat_private_changed(&r);
	if (rc != -EAGAIN && concerns_others(&r, in->change))
		leat_shm_changed(c->d->shm);
	if (!rc && c->d->n_violations != violations && !c->d->options.warn_violations)
		rc = -EIO;
	leat_reply_answer(c, rc, leat_file_slot(rc == -EAGAIN ? r.on : NULL), NULL);
	return 0;
}
