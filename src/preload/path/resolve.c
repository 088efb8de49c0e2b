/* The order of things in a call on a path: is it inside, what does the daemon
 * say, wait if it says so, then make the call where it says. */
#include "preload/path/resolve.h"

#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/text.h"
#include "preload/path/paths.h"
#include "preload/path/resolve_cache.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int find(struct leat_thread *t, const struct leat_target *target)
{
	if (target->follow)
		return leat_path_follow(t, target->dirfd, target->path, t->below[0]);
	return leat_path_find(t, target->dirfd, target->path, t->below[0]);
}

static int request(struct leat_thread *t, const struct leat_target *target)
{
	const struct leat_msg_resolve m = {.op = target->op,
					   .flags = target->flags,
					   .mode = target->mode,
					   .rights = target->rights,
					   .uid = target->uid,
					   .gid = target->gid,
					   .no_wait = target->no_wait,
					   .length = target->length};

	return leat_channel_resolve(leat_client_channel(t), &m, t->below[0]);
}

/* "As the program wrote it" is not enough where the kernel's idea of the working
 * directory is a directory of the store. */
static void locate_as_is(struct leat_resolved *resolved, const struct leat_target *target,
			 const char *path)
{
	const struct leat_server_info *w = leat_server_known();

	resolved->dirfd = target->dirfd;
	resolved->path = target->path;
	if (*path) {
		resolved->dirfd = AT_FDCWD;
		resolved->path = path;
	} else if (target->path[0] != '/' && w) {
		resolved->dirfd = w->dir_fd;
		resolved->path = *resolved->guard.t->below[0] ? resolved->guard.t->below[0] : ".";
	}
}

static int locate(struct leat_resolved *resolved, const struct leat_target *target)
{
	const struct leat_msg_resolved *m =
		(const struct leat_msg_resolved *)resolved->guard.t->msg;
	const struct leat_server_info *w = leat_server_known();
	const char *path = leat_wire_string(m, sizeof(*m), 0);

	resolved->location = m->location;
	resolved->kind = m->kind;
	resolved->slot = m->slot;
	resolved->flags = m->flags;
	resolved->ofd = m->ofd;
	resolved->input = m->input;
	resolved->intact = m->intact;
	resolved->changes = m->changes;
	resolved->lasting = m->lasting;
	resolved->generation = m->generation;
	if (m->error)
		return m->error;
	path = path ? path : "";
	switch (m->location) {
	case LEAT_LOCATION_ASIS:
		locate_as_is(resolved, target, path);
		return 0;
	case LEAT_LOCATION_STORE:
	case LEAT_LOCATION_DISK:
		resolved->dirfd = m->location == LEAT_LOCATION_STORE ? w->store_fd : w->dir_fd;
		resolved->path = *path ? path : ".";
		return 0;
	case LEAT_LOCATION_SPILL:
		resolved->dirfd = AT_FDCWD;
		resolved->path = path;
		return 0;
	default:
		return -EIO;
	}
}

/* Calls that what is known of a committed file answers. */
static bool only_looks(const struct leat_target *target)
{
	switch (target->op) {
	case LEAT_OP_STAT:
	case LEAT_OP_ACCESS:
		return true;
	case LEAT_OP_OPEN:
		return !(target->flags & (O_ACCMODE | O_TRUNC | O_CREAT | O_DIRECTORY |
					  (O_TMPFILE & ~O_DIRECTORY)));
	default:
		return false;
	}
}

/* Is it to learn more than that the file is there? */
static bool looks_at_rights(const struct leat_target *target)
{
	return target->op == LEAT_OP_STAT || (target->op == LEAT_OP_ACCESS && target->mode & X_OK);
}

/* The daemon has said it before, and nothing has changed. */
static bool locate_known(struct leat_resolved *resolved, const struct leat_target *target)
{
	const struct leat_server_info *w = leat_server_known();
	const char *below = resolved->guard.t->below[0];
	struct leat_shm_file *f;
	struct leat_resolve_cached known;

	if (!w || !only_looks(target) || (w->acts && target->op == LEAT_OP_OPEN) ||
	    !leat_resolve_cache_find(below, strlen(below), looks_at_rights(target), &known, NULL))
		return false;
	f = leat_client_file(known.slot);
	*resolved = (struct leat_resolved){.guard = resolved->guard,
					   .dirfd = w->store_fd,
					   .path = below,
					   .location = LEAT_LOCATION_STORE,
					   .kind = LEAT_KIND_COUNTED,
					   .slot = known.slot,
					   .flags = target->flags,
					   .common = known.common,
					   .input = known.input,
					   .generation = f ? leat_shm_generation(f) : 0,
					   .changes = known.changes,
					   .lasting = true};
	return true;
}

void leat_resolved_remember(const struct leat_resolved *resolved, const struct stat *st)
{
	const struct leat_resolve_cached known = {.common = resolved->common,
						  .changes = resolved->changes,
						  .slot = resolved->slot,
						  .input = resolved->input};

	if (resolved->lasting)
		leat_resolve_cache_put(resolved->path, strlen(resolved->path), &known, st);
}

static int enter(struct leat_resolved *resolved, const struct leat_target *target)
{
	if (!target->follow && !leat_path_maybe(target->dirfd, target->path))
		return LEAT_OUTSIDE;
	for (;;) {
		uint32_t slot, seq;
		uint64_t common;
		int rc = leat_guard_acquire(&resolved->guard);

		if (rc)
			return rc;
		rc = find(resolved->guard.t, target);
		if (rc > 0 && locate_known(resolved, target))
			return 0;
		common = leat_resolve_cache_common();
		if (rc > 0)
			rc = request(resolved->guard.t, target);
		else if (!rc)
			rc = LEAT_OUTSIDE;
		if (!rc)
			rc = locate(resolved, target);
		if (!rc) {
			if (target->op == LEAT_OP_META || target->op == LEAT_OP_TRUNCATE)
				leat_resolve_cache_changing();
			resolved->common = common;
			leat_resolved_remember(resolved, NULL);
			return 0;
		}
		slot = resolved->slot;
		seq = ((const struct leat_msg_resolved *)resolved->guard.t->msg)->seq;
		leat_guard_release(&resolved->guard);
		if (rc != -EAGAIN)
			return rc;
		rc = leat_wait_slot(slot, seq);
		if (rc)
			return rc;
	}
}

/* A symlink outside that leads inside is followed by the kernel, unseen; where the file is on disk
 * that does no harm, but for --enforce. Opens look at it themselves. */
static bool may_lead_in(const struct leat_target *target)
{
	if (!leat_is_enforced() || target->follow || target->op == LEAT_OP_OPEN ||
	    target->op == LEAT_OP_MKDIR || target->op == LEAT_OP_MAKE ||
	    target->flags & AT_SYMLINK_NOFOLLOW)
		return false;
	return leat_path_dangles(target->dirfd, target->path);
}

int leat_resolve(struct leat_resolved *resolved, const struct leat_target *target)
{
	struct leat_target through;
	int rc = enter(resolved, target);

	if (rc != LEAT_OUTSIDE || !may_lead_in(target))
		return rc;
	through = *target;
	through.follow = true;
	return enter(resolved, &through);
}

int leat_resolve_again(struct leat_resolved *resolved, const struct leat_target *target)
{
	int rc;

	leat_resolved_leave(resolved);
	rc = leat_resolve(resolved, target);
	return rc == LEAT_OUTSIDE ? -ENOENT : rc;
}

void leat_resolved_leave(struct leat_resolved *resolved)
{
	leat_guard_release(&resolved->guard);
}

static void report(struct leat_resolved *resolved, long rc)
{
	const struct leat_msg_opened opened = {.h.type = LEAT_MSG_OPENED,
					       .error = (int32_t)(rc < 0 ? rc : 0)};

	leat_channel_report(leat_client_channel(resolved->guard.t), &opened.h);
}

long leat_resolved_result(struct leat_resolved *resolved, long rc)
{
	if (rc < 0)
		report(resolved, rc);
	leat_resolved_leave(resolved);
	return rc;
}

long leat_resolved_changed(struct leat_resolved *resolved, long rc)
{
	leat_resolve_cache_changed();
	return leat_resolved_result(resolved, rc);
}

long leat_resolved_made(struct leat_resolved *resolved, long rc)
{
	report(resolved, rc);
	leat_resolved_leave(resolved);
	return rc;
}

const char *leat_resolved_path(struct leat_resolved *resolved)
{
	struct leat_thread *t = resolved->guard.t;
	char head[LEAT_FD_PATH];
	struct leat_text text;

	if (resolved->dirfd == AT_FDCWD || resolved->path[0] == '/')
		return resolved->path;
	leat_fd_path(resolved->dirfd, head);
	text = leat_text_in(t->name, sizeof(t->name));
	leat_text_add(&text, head);
	leat_text_add(&text, "/");
	leat_text_add(&text, resolved->path);
	/* A path cut short must not name another file. */
	return text.full ? "" : t->name;
}
