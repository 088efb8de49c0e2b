/* Questions about names and space, and facts that the daemon is to have heard. */
#include "mount/daemon/ask.h"
#include "mount/callers/caller.h"
#include "mount/daemon/wait.h"
#include "mount/names/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Directory and path of a place; path NULL: there is none. */
static int go_to(const struct leat_errand *call, uint32_t where, const char *path,
		 struct leat_place_of *place)
{
	place->dirfd = call->m->dir_fd;
	if (where == LEAT_PLACE_STORE)
		place->dirfd = call->m->store_fd;
	if (where == LEAT_PLACE_SPILL)
		place->dirfd = AT_FDCWD;
	if (!path || strlen(path) >= sizeof(place->path))
		return -EIO;
	strcpy(place->path, *path ? path : ".");
	return 0;
}

static int place_of(const struct leat_errand *call, const char *asked, struct leat_place_of *place)
{
	const struct leat_msg_resolved *m = (const struct leat_msg_resolved *)call->line->msg;
	const char *path = leat_wire_string(m, sizeof(*m), 0);

	place->kind = m->kind;
	place->slot = m->slot;
	place->seq = m->seq;
	place->flags = m->flags;
	place->ofd = m->ofd;
	place->intact = m->intact;
	place->path[0] = 0;
	if (m->error == -EAGAIN && path && *path)
		go_to(call, m->place, path, place);
	if (m->error)
		return m->error;
	if (m->place == LEAT_PLACE_ASIS) {
		/* The kernel has followed all symlinks: a name that leads outside was
		 * changed meanwhile. */
		if (path && *path)
			return -ESTALE;
		path = asked;
	}
	return go_to(call, m->place, path, place);
}

int leat_errand_try(struct leat_errand *call, enum leat_op op, const char *path, uint32_t flags,
		    uint32_t mode, uint64_t length, struct leat_place_of *place)
{
	struct leat_msg_resolve *m = leat_line_begin(call->line, LEAT_MSG_RESOLVE);
	int rc;

	m->op = op;
	m->flags = flags;
	m->mode = mode;
	m->length = length;
	if (op == LEAT_OP_OPEN && (flags & O_ACCMODE) != O_RDONLY)
		m->pid = call->req && call->tid > 0 ? (uint32_t)leat_caller_opener(call->tid) : 0;
	rc = leat_wire_put(m, path);
	if (!rc)
		rc = leat_line_roundtrip(call->line, LEAT_MSG_RESOLVED);
	return rc ? rc : place_of(call, path, place);
}

int leat_errand_resolve(struct leat_errand *call, enum leat_op op, const char *path, uint32_t flags,
			uint32_t mode, uint64_t length, struct leat_place_of *place)
{
	int rc;

	for (;;) {
		rc = leat_errand_try(call, op, path, flags, mode, length, place);
		if (rc != -EAGAIN)
			return rc;
		rc = leat_errand_sleep(call, place->slot, place->seq);
		if (rc)
			return rc;
	}
}

int leat_errand_resolve_node(struct leat_errand *call, fuse_ino_t ino, enum leat_op op,
			     uint32_t mode, uint64_t length, struct leat_place_of *place)
{
	char path[PATH_MAX];
	int rc = leat_node_path(call->m, ino, NULL, path);

	return rc ? rc
		  : leat_errand_resolve(call, op, path, AT_SYMLINK_NOFOLLOW, mode, length, place);
}

bool leat_errand_room(struct leat_errand *call, uint32_t slot, uint64_t length, uint64_t *attempt)
{
	uint32_t seq;
	int rc;

	if (!slot)
		return false;
	for (;;) {
		rc = leat_line_ask(call->line, LEAT_WIRE_ROOM, slot, (*attempt)++, length, &seq);
		if (rc != -EAGAIN)
			return !rc;
		if (leat_errand_sleep(call, slot, seq))
			return false;
	}
}

bool leat_errand_is_over_budget(struct leat_errand *call, uint32_t slot, uint64_t length)
{
	static struct leat_shm_unasked unasked;
	uint64_t sum = slot ? leat_shm_unasked(call->m->shm, &unasked, length) : 0;
	uint32_t seq;

	if (!sum)
		return false;
	return leat_shm_asked(call->m->shm, &unasked,
			      leat_line_ask(call->line, LEAT_WIRE_HAS_ROOM, slot, 0, sum, &seq));
}

void leat_errand_tell(struct leat_errand *call, enum leat_msg_type type,
		      const struct leat_msg_fact *fact)
{
	if (!leat_line_fact(call->line, type, fact))
		leat_errand_cancel(call);
}

void leat_errand_made(struct leat_errand *call, const struct leat_place_of *place, int rc)
{
	struct leat_msg_fact fact = {.slot = place->slot, .ofd = place->ofd, .error = rc};

	if (place->ofd || !rc)
		leat_errand_tell(call, LEAT_MSG_OPENED, &fact);
	else
		leat_line_fact(call->line, LEAT_MSG_OPENED, &fact);
}
