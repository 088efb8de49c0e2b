/* Who has a node open. */
#include "mount/files/open_files.h"
#include "mount/files/migrate.h"
#include "mount/names/handle.h"
#include "mount/names/node.h"
#include "mount/names/node_inside.h"

#include "base/fd.h"

#include <fcntl.h>
#include <utlist.h>

bool leat_handle_is_final(const struct leat_mount_call *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);

	return h->kind != LEAT_KIND_CONSUMER || !f || leat_shm_flags(f) & LEAT_SHM_COMMITTED;
}

void leat_handle_attach(struct leat_handle *h, fuse_ino_t ino)
{
	struct leat_mount *m = h->m;

	pthread_mutex_lock(&m->lock);
	h->node = leat_node_of(m, ino);
	DL_APPEND(h->node->handles, h);
	DL_APPEND2(m->handles, h, all_prev, all_next);
	pthread_mutex_unlock(&m->lock);
}

void leat_handle_detach(struct leat_handle *h)
{
	struct leat_mount *m = h->m;

	pthread_mutex_lock(&m->lock);
	if (h->node) {
		if (h->backing && !--h->node->backing_users)
			leat_fuse_unback(m->session, h->node->backing);
		DL_DELETE(h->node->handles, h);
		DL_DELETE2(m->handles, h, all_prev, all_next);
		leat_node_settle(m, h->node);
		h->node = NULL;
	}
	pthread_mutex_unlock(&m->lock);
}

/* The kernel wants all opens of a file to be alike: one backing file for all, or none. */
bool leat_handle_back(struct leat_handle *h, bool final)
{
	struct leat_mount *m = h->m;
	struct leat_node *node = h->node;

	pthread_mutex_lock(&m->lock);
	if (final && !node->backing_users && node->handles == h && !h->next)
		node->backing = leat_fuse_back(m->session, h->fd);
	if (node->backing_users || (final && node->handles == h && !h->next)) {
		h->backing = node->backing;
		node->backing_users += h->backing != 0;
	}
	pthread_mutex_unlock(&m->lock);
	return h->backing != 0;
}

int leat_handle_any(struct leat_mount_call *call, fuse_ino_t ino, uint32_t *slot)
{
	struct leat_mount *m = call->m;
	const struct leat_node *node;
	const struct leat_handle *h;
	uint32_t generation = 0;
	int fd = -1;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	h = node ? node->handles : NULL;
	if (h) {
		fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 3);
		*slot = h->slot;
		generation = (uint32_t)leat_word_get(&h->generation);
	}
	pthread_mutex_unlock(&m->lock);
	if (fd >= 0 && leat_handle_migrate_copy(call, *slot, generation, fd))
		leat_close(&fd);
	return fd;
}

void leat_handle_sized(struct leat_mount_call *call, fuse_ino_t ino, uint64_t size)
{
	struct leat_mount *m = call->m;
	struct leat_handle *h;

	pthread_mutex_lock(&m->lock);
	DL_FOREACH(leat_node_of(m, ino)->handles, h)
	if (h->kind == LEAT_KIND_CONSUMER) {
		struct leat_shm_file *f = leat_mount_file(call, h->slot);

		if (f && leat_shm_flags(f) & LEAT_SHM_COMMITTED && leat_shm_size(f) <= size) {
			h->sized = h->trusted = false;
		} else {
			h->sized = true;
			h->size_seen = size;
		}
	}
	pthread_mutex_unlock(&m->lock);
}

bool leat_handles_list(struct leat_mount *m, fuse_ino_t ino)
{
	struct leat_handle *h;
	bool first = false;

	pthread_mutex_lock(&m->lock);
	DL_FOREACH(leat_node_of(m, ino)->handles, h)
	{
		first |= h->unlisted;
		h->unlisted = false;
	}
	pthread_mutex_unlock(&m->lock);
	return first;
}

bool leat_handle_note_unread(struct leat_handle *h, bool unread)
{
	bool first;

	pthread_mutex_lock(&h->m->lock);
	first = h->node && unread != h->unread;
	h->unread = unread;
	if (h->node && !unread)
		h->node->unread = 0;
	else if (first)
		h->node->unread++;
	pthread_mutex_unlock(&h->m->lock);
	return first;
}

/* A program may look before it reads, but not for ever; at its end one look is enough for it. */
enum { MAX_UNREAD = 100, MAX_UNREAD_AT_END = 2 };

bool leat_node_is_stuck(struct leat_mount *m, fuse_ino_t ino)
{
	bool stuck;

	pthread_mutex_lock(&m->lock);
	stuck = leat_node_of(m, ino)->unread >= MAX_UNREAD;
	pthread_mutex_unlock(&m->lock);
	return stuck;
}

bool leat_nodes_unread(struct leat_mount *m, char path[PATH_MAX])
{
	struct leat_node *node, *next;
	bool found = false;

	pthread_mutex_lock(&m->lock);
	HASH_ITER(hh, m->names, node, next)
	{
		if (!found && node->unread >= MAX_UNREAD_AT_END)
			found = leat_node_name(m, node, NULL, path) == 0;
	}
	pthread_mutex_unlock(&m->lock);
	return found;
}

bool leat_handle_grows(struct leat_mount_call *call, fuse_ino_t ino, bool *sized)
{
	const struct leat_handle *h;
	bool grows = false;

	*sized = true;
	pthread_mutex_lock(&call->m->lock);
	DL_FOREACH(leat_node_of(call->m, ino)->handles, h)
	if (!leat_handle_is_final(call, h)) {
		grows = true;
		*sized &= h->sized;
	}
	pthread_mutex_unlock(&call->m->lock);
	return grows;
}
