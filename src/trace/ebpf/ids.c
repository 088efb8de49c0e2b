#include "trace/ebpf/ids.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { MOST_NAMES = 65536 };

struct inode_key {
	uint64_t inode;
	uint32_t device, generation;
};

struct inode {
	UT_hash_handle hh;
	struct inode_key key;
	uint64_t id;
};

struct handle {
	UT_hash_handle hh;
	uint64_t id; /* key */
	uint64_t inode;
};

struct name {
	UT_hash_handle hh;
	uint64_t inode;
	char path[]; /* key */
};

struct leat_ebpf_ids {
	struct inode *inodes;   /* owned */
	struct handle *handles; /* owned */
	struct name *names;     /* owned, in the order in which they became known */
	struct handle *last;    /* looked for; borrowed */
	uint64_t last_inode;
};

struct leat_ebpf_ids *leat_ebpf_ids_new(void)
{
	return calloc(1, sizeof(struct leat_ebpf_ids));
}

void leat_ebpf_ids_free(struct leat_ebpf_ids *ids)
{
	struct inode *inode, *next_inode;
	struct handle *handle, *next_handle;
	struct name *name, *next_name;

	if (!ids)
		return;
	HASH_ITER(hh, ids->inodes, inode, next_inode)
	{
		HASH_DEL(ids->inodes, inode);
		free(inode);
	}
	HASH_ITER(hh, ids->handles, handle, next_handle)
	{
		HASH_DEL(ids->handles, handle);
		free(handle);
	}
	HASH_ITER(hh, ids->names, name, next_name)
	{
		HASH_DEL(ids->names, name);
		free(name);
	}
	free(ids);
}

uint64_t leat_ebpf_ids_inode(struct leat_ebpf_ids *ids, uint32_t device, uint32_t generation,
			     uint64_t inode, bool created)
{
	struct inode_key key = {.inode = inode, .device = device, .generation = generation};
	struct inode *found;

	HASH_FIND(hh, ids->inodes, &key, sizeof(key), found);
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found)
			return 0;
		found->key = key;
		HASH_ADD(hh, ids->inodes, key, sizeof(key), found);
	}
	if (created || !found->id)
		found->id = ++ids->last_inode;
	return found->id;
}

static struct handle *find(struct leat_ebpf_ids *ids, uint64_t id)
{
	struct handle *h = ids->last;

	if (h && h->id == id)
		return h;
	HASH_FIND(hh, ids->handles, &id, sizeof(id), h);
	if (h)
		ids->last = h;
	return h;
}

bool leat_ebpf_ids_open(struct leat_ebpf_ids *ids, uint64_t handle, uint64_t inode)
{
	struct handle *h = malloc(sizeof(*h));

	if (!h)
		return false;
	h->id = handle;
	h->inode = inode;
	HASH_ADD(hh, ids->handles, id, sizeof(h->id), h);
	return true;
}

uint64_t leat_ebpf_ids_of(struct leat_ebpf_ids *ids, uint64_t handle)
{
	struct handle *h = find(ids, handle);

	return h ? h->inode : 0;
}

void leat_ebpf_ids_close(struct leat_ebpf_ids *ids, uint64_t handle)
{
	struct handle *h = find(ids, handle);

	if (!h)
		return;
	ids->last = NULL;
	HASH_DEL(ids->handles, h);
	free(h);
}

static struct name *find_name(struct leat_ebpf_ids *ids, const char *path)
{
	struct name *n;

	HASH_FIND_STR(ids->names, path, n);
	return n;
}

void leat_ebpf_ids_name(struct leat_ebpf_ids *ids, const char *path, uint64_t inode)
{
	struct name *n = find_name(ids, path);
	size_t size = strlen(path) + 1;

	if (n) {
		n->inode = inode;
		return;
	}
	if (HASH_COUNT(ids->names) >= MOST_NAMES) {
		n = ids->names;
		HASH_DEL(ids->names, n);
		free(n);
	}
	n = malloc(sizeof(*n) + size);
	if (!n)
		return; /* as one of those that are known no more */
	n->inode = inode;
	memcpy(n->path, path, size);
	HASH_ADD_KEYPTR(hh, ids->names, n->path, size - 1, n);
}

uint64_t leat_ebpf_ids_named(struct leat_ebpf_ids *ids, const char *path)
{
	struct name *n = find_name(ids, path);

	return n ? n->inode : 0;
}

uint64_t leat_ebpf_ids_unname(struct leat_ebpf_ids *ids, const char *path)
{
	struct name *n = find_name(ids, path);
	uint64_t inode = n ? n->inode : 0;

	if (n) {
		HASH_DEL(ids->names, n);
		free(n);
	}
	return inode;
}
