/* The names the kernel knows. A node is a name in a directory, and stands for the file that was
 * seen there last: when another file takes the name, the kernel is given another node, because it
 * keeps lengths and pages by node. */
#include "mount/names/node.h"
#include "base/timespec.h"
#include "mount/names/handle.h"
#include "mount/names/identity.h"
#include "mount/names/node_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static const char *name_of(const struct leat_node *node)
{
	return node->key + sizeof(node->parent);
}

struct leat_node *leat_node_of(struct leat_mount *m, fuse_ino_t ino)
{
	if (ino == LEAT_ALIVE_INO)
		return NULL;
	return ino == FUSE_ROOT_ID ? m->root : (struct leat_node *)(uintptr_t)ino;
}

fuse_ino_t leat_node_ino(const struct leat_mount *m, const struct leat_node *node)
{
	return node == m->root ? FUSE_ROOT_ID : (fuse_ino_t)(uintptr_t)node;
}

uint64_t leat_node_generation(const struct leat_node *node)
{
	return node->generation;
}

struct leat_node *leat_node_root(struct leat_mount *m)
{
	m->root = calloc(1, sizeof(*m->root));
	if (m->root)
		m->root->type = S_IFDIR;
	return m->root;
}

/* The key of `name` in `parent`: allocated. */
static char *key_of(struct leat_node *parent, const char *name, size_t *size)
{
	size_t length = strlen(name) + 1;
	char *key = malloc(sizeof(parent) + length);

	if (!key)
		return NULL;
	memcpy(key, &parent, sizeof(parent));
	memcpy(key + sizeof(parent), name, length);
	*size = sizeof(parent) + length;
	return key;
}

static struct leat_node *find(struct leat_mount *m, struct leat_node *parent, const char *name)
{
	struct leat_node *node = NULL;
	size_t size;
	char *key = key_of(parent, name, &size);

	if (key)
		HASH_FIND(hh, m->names, key, size, node);
	free(key);
	return node;
}

static void unlist(struct leat_mount *m, struct leat_node *node)
{
	if (node->listed)
		HASH_DEL(m->names, node);
	node->listed = false;
}

static void detach(struct leat_mount *m, struct leat_node *node)
{
	unlist(m, node);
	free(node->key);
	node->key = NULL;
}

/* Takes `key` over. 0 or -ENOMEM. */
static int attach(struct leat_mount *m, struct leat_node *node, struct leat_node *parent, char *key,
		  size_t size)
{
	node->key = key;
	node->key_size = size;
	HASH_ADD_KEYPTR(hh, m->names, node->key, node->key_size, node);
	if (!node->hh.tbl) {
		free(node->key);
		node->key = NULL;
		return -ENOMEM;
	}
	node->listed = true;
	parent->children++;
	if (node->parent)
		node->parent->children--;
	node->parent = parent;
	return 0;
}

void leat_node_settle(struct leat_mount *m, struct leat_node *node)
{
	while (node && node != m->root && !node->lookups && !node->children && !node->handles) {
		struct leat_node *parent = node->parent;

		detach(m, node);
		free(node);
		if (parent)
			parent->children--;
		node = parent;
	}
}

int leat_node_name(const struct leat_mount *m, const struct leat_node *node, const char *name,
		   char out[PATH_MAX])
{
	char *at = out + PATH_MAX - 1;
	int rc = 0;

	*at = 0;
	while (!rc && (name || node != m->root)) {
		const char *part = name;
		size_t length;

		if (!name) {
			if (!node || !node->key) {
				rc = -ESTALE;
				break;
			}
			part = name_of(node);
			node = node->parent;
		}
		name = NULL;
		length = strlen(part);
		if ((size_t)(at - out) < length + 1) {
			rc = -ENAMETOOLONG;
			break;
		}
		if (*at)
			*--at = '/';
		at -= length;
		memcpy(at, part, length);
	}
	memmove(out, at, strlen(at) + 1);
	return rc;
}

int leat_node_path(struct leat_mount *m, fuse_ino_t ino, const char *name, char *out)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = leat_node_name(m, leat_node_of(m, ino), name, out);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static bool is_unknown(const struct leat_identity *id)
{
	return !id->dev && !id->ino;
}

static void note_reported(struct leat_node *node, uint64_t size)
{
	if (size < node->reported_size)
		node->reported_size = size;
}

static bool is_same(const struct leat_identity *a, const struct leat_identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born_ns == b->born_ns;
}

/* Has the file of the node moved, which is open, and is that where it is now? Its record is the
 * same: another file of the name would have another. */
static bool has_moved(const struct leat_mount *m, const struct leat_node *node,
		      const struct leat_identity *id)
{
	const struct leat_handle *h;
	struct leat_identity own;
	struct stat st;

	if (!id->slot || node->id.slot != id->slot)
		return false;
	DL_FOREACH(node->handles, h)
	if (h->slot == id->slot && id->slot < LEAT_SHM_MAX_FILES &&
	    (leat_shm_generation(&m->shm->files[id->slot]) != leat_word_get(&h->generation) ||
	     (!leat_identify(h->fd, "", &st, &own) && is_same(&own, id))))
		return true;
	return false;
}

/* A directory is a name: it may be in both places. */
static bool stands_for(const struct leat_mount *m, struct leat_node *node, const struct stat *st,
		       const struct leat_identity *id)
{
	if (node->type != (st->st_mode & S_IFMT))
		return false;
	if (S_ISDIR(st->st_mode) || is_unknown(id))
		return true;
	if (is_unknown(&node->id) || (!is_same(&node->id, id) && has_moved(m, node, id)))
		node->id = *id;
	return is_same(&node->id, id);
}

/* The name leads to another node from now on. Who waits for what is to come has it by the old one.
 */
static void pass_on(struct leat_mount *m, struct leat_node *node)
{
	if (is_unknown(&node->id))
		unlist(m, node);
	else
		detach(m, node);
}

static struct leat_node *make(struct leat_mount *m, struct leat_node *parent, const char *name)
{
	struct leat_node *node = calloc(1, sizeof(*node));
	size_t size;
	char *key = node ? key_of(parent, name, &size) : NULL;

	if (!key || attach(m, node, parent, key, size)) {
		free(node);
		return NULL;
	}
	node->generation = ++m->generation;
	node->reported_size = UINT64_MAX;
	return node;
}

struct leat_node *leat_node_look(struct leat_mount *m, fuse_ino_t parent, const char *name,
				 const struct stat *st, const struct leat_identity *id, pid_t tid)
{
	struct leat_node *node, *dir;

	pthread_mutex_lock(&m->lock);
	dir = leat_node_of(m, parent);
	node = find(m, dir, name);
	if (node && !stands_for(m, node, st, id)) {
		pass_on(m, node);
		node = NULL;
	}
	if (!node) {
		node = make(m, dir, name);
		if (node) {
			node->type = st->st_mode & S_IFMT;
			node->id = *id;
		}
	}
	if (node) {
		note_reported(node, (uint64_t)st->st_size);
		node->lookups++;
		node->looks[node->next_look++ % LEAT_LOOKS] = tid;
	}
	pthread_mutex_unlock(&m->lock);
	return node;
}

void leat_node_forget(struct leat_mount *m, fuse_ino_t ino, uint64_t n)
{
	struct leat_node *node;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	if (node)
		node->lookups = node->lookups > n ? node->lookups - n : 0;
	leat_node_settle(m, node);
	pthread_mutex_unlock(&m->lock);
}

bool leat_node_by_path(struct leat_mount *m, fuse_ino_t ino, pid_t tid)
{
	struct leat_node *node;
	bool found = false;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	for (unsigned i = 0; node && i < LEAT_LOOKS; i++)
		if (node->looks[i] == tid) {
			node->looks[i] = 0;
			found = true;
		}
	pthread_mutex_unlock(&m->lock);
	return found;
}

bool leat_node_missed(struct leat_mount *m, fuse_ino_t ino, pid_t tid)
{
	struct leat_node *node;
	bool first = false;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	if (node) {
		first = node->missed != tid;
		node->missed = first ? tid : 0;
	}
	pthread_mutex_unlock(&m->lock);
	return first;
}

bool leat_node_is_awaited(struct leat_mount *m, fuse_ino_t ino)
{
	bool awaited;

	pthread_mutex_lock(&m->lock);
	awaited = is_unknown(&leat_node_of(m, ino)->id);
	pthread_mutex_unlock(&m->lock);
	return awaited;
}

bool leat_node_is(struct leat_mount *m, fuse_ino_t ino, const struct stat *st,
		  const struct leat_identity *id)
{
	bool same;

	pthread_mutex_lock(&m->lock);
	same = stands_for(m, leat_node_of(m, ino), st, id);
	pthread_mutex_unlock(&m->lock);
	return same;
}

void leat_node_note_size_reported(struct leat_mount *m, fuse_ino_t ino, uint64_t size)
{
	struct leat_node *node;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	if (node)
		note_reported(node, size);
	pthread_mutex_unlock(&m->lock);
}

bool leat_node_was_reported_less(struct leat_mount *m, fuse_ino_t ino, uint64_t size)
{
	struct leat_node *node;
	bool less;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	less = node->reported_size < size;
	if (less)
		node->reported_size = size;
	pthread_mutex_unlock(&m->lock);
	return less;
}

bool leat_node_keep_cache(struct leat_mount *m, fuse_ino_t ino, const struct stat *st)
{
	struct leat_node *node;
	bool keep;

	pthread_mutex_lock(&m->lock);
	node = leat_node_of(m, ino);
	keep = node->cached && node->cached_size == st->st_size &&
	       leat_timespec_is_same(node->cached_mtime, st->st_mtim);
	node->cached = true;
	node->cached_size = st->st_size;
	node->cached_mtime = st->st_mtim;
	pthread_mutex_unlock(&m->lock);
	return keep;
}

void leat_node_removed(struct leat_mount *m, fuse_ino_t parent, const char *name)
{
	struct leat_node *node;

	pthread_mutex_lock(&m->lock);
	node = find(m, leat_node_of(m, parent), name);
	if (node)
		detach(m, node);
	pthread_mutex_unlock(&m->lock);
}

/* A name that cannot be noted is looked up anew. */
static void move(struct leat_mount *m, struct leat_node *node, struct leat_node *parent,
		 const char *name)
{
	size_t size;
	char *key = key_of(parent, name, &size);

	if (key)
		attach(m, node, parent, key, size);
}

void leat_node_renamed(struct leat_mount *m, fuse_ino_t parent, const char *name,
		       fuse_ino_t to_parent, const char *to_name, bool exchange)
{
	struct leat_node *from, *to, *a, *b;

	pthread_mutex_lock(&m->lock);
	a = leat_node_of(m, parent);
	b = leat_node_of(m, to_parent);
	from = find(m, a, name);
	to = find(m, b, to_name);
	if (from != to) {
		if (from)
			detach(m, from);
		if (to)
			detach(m, to);
		if (from)
			move(m, from, b, to_name);
		if (to && exchange)
			move(m, to, a, name);
	}
	pthread_mutex_unlock(&m->lock);
}

void leat_nodes_free(struct leat_mount *m)
{
	struct leat_node *node, *next;

	HASH_ITER(hh, m->names, node, next)
	{
		detach(m, node);
		free(node);
	}
	free(m->root);
}
