/* Questions about names and space, and reports that the daemon has handled when they return. */
#include "mount/daemon/ask.h"
#include "mount/callers/caller.h"
#include "mount/daemon/wait.h"
#include "mount/names/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Directory and path of a place; path NULL: there is none. */
static int go_to(const struct leat_mount_call *call, uint32_t where, const char *path,
		 struct leat_mount_location *location)
{
	location->dirfd = call->m->dir_fd;
	if (where == LEAT_LOCATION_STORE)
		location->dirfd = call->m->store_fd;
	if (where == LEAT_LOCATION_SPILL)
		location->dirfd = AT_FDCWD;
	if (!path || strlen(path) >= sizeof(location->path))
		return -EIO;
	strcpy(location->path, *path ? path : ".");
	return 0;
}

static int location_of(const struct leat_mount_call *call, const char *asked,
		       struct leat_mount_location *location)
{
	const struct leat_msg_resolved *m = (const struct leat_msg_resolved *)call->connection->msg;
	const char *path = leat_wire_string(m, sizeof(*m), 0);

	location->kind = m->kind;
	location->slot = m->slot;
	location->seq = m->seq;
	location->generation = m->generation;
	location->flags = m->flags;
	location->ofd = m->ofd;
	location->intact = m->intact;
	location->mistaken = m->mistaken;
	location->path[0] = 0;
	if (m->error == -EAGAIN && path && *path)
		go_to(call, m->location, path, location);
	if (m->error)
		return m->error;
	if (m->location == LEAT_LOCATION_ASIS) {
		/* The kernel has followed all symlinks: a name that leads outside was
		 * changed meanwhile. */
		if (path && *path)
			return -ESTALE;
		path = asked;
	}
	return go_to(call, m->location, path, location);
}

int leat_mount_resolve_once(struct leat_mount_call *call, const struct leat_msg_resolve *what,
			    const char *path, struct leat_mount_location *location)
{
	struct leat_msg_resolve m = *what;
	int rc;

	if (m.op == LEAT_OP_OPEN && (m.flags & O_ACCMODE) != O_RDONLY)
		m.pid = call->req && call->tid > 0 ? (uint32_t)leat_caller_opener(call->tid) : 0;
	rc = leat_channel_resolve(leat_mount_channel(call), &m, path);
	return rc ? rc : location_of(call, path, location);
}

int leat_mount_resolve(struct leat_mount_call *call, const struct leat_msg_resolve *what,
		       const char *path, struct leat_mount_location *location)
{
	int rc;

	for (;;) {
		rc = leat_mount_resolve_once(call, what, path, location);
		if (rc != -EAGAIN)
			return rc;
		rc = leat_mount_sleep(call, location->slot, location->seq);
		if (rc)
			return rc;
	}
}

int leat_mount_resolve_node(struct leat_mount_call *call, fuse_ino_t ino,
			    const struct leat_msg_resolve *what,
			    struct leat_mount_location *location)
{
	struct leat_msg_resolve m = *what;
	char path[PATH_MAX];
	int rc = leat_node_path(call->m, ino, NULL, path);

	m.flags = AT_SYMLINK_NOFOLLOW;
	return rc ? rc : leat_mount_resolve(call, &m, path, location);
}

bool leat_mount_make_space(struct leat_mount_call *call, uint32_t slot, uint64_t length,
			   uint64_t *attempt)
{
	struct leat_mount_awaiter a;
	int rc;

	if (!slot)
		return false;
	leat_mount_awaiter_init(&a, call);
	do
		rc = leat_await_space(&a.wait, slot, length, attempt);
	while (rc > 0);
	return !rc;
}

bool leat_mount_is_over_budget(struct leat_mount_call *call, uint32_t slot, uint64_t length)
{
	static struct leat_shm_unasked unasked;
	uint64_t sum = slot ? leat_shm_unasked(call->m->shm, &unasked, length) : 0;
	const struct leat_msg_ask_budget question = {
		.h.type = LEAT_MSG_ASK_BUDGET, .slot = slot, .length = sum};

	if (!sum)
		return false;
	return leat_shm_asked(call->m->shm, &unasked,
			      leat_channel_ask(leat_mount_channel(call), &question.h, NULL));
}

void leat_mount_report(struct leat_mount_call *call, const struct leat_msg *report)
{
	if (!leat_channel_report(leat_mount_channel(call), report))
		leat_mount_cancel(call);
}

void leat_mount_report_opened(struct leat_mount_call *call,
			      const struct leat_mount_location *location, int rc)
{
	const struct leat_msg_opened opened = {.h.type = LEAT_MSG_OPENED, .error = rc};

	if (location->ofd || !rc)
		leat_mount_report(call, &opened.h);
	else
		leat_channel_report(leat_mount_channel(call), &opened.h);
}
