#include "trace/ptrace/files.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static struct inode_key key_of(const struct statx *st)
{
	bool birth = st->stx_mask & STATX_BTIME;

	return (struct inode_key){.dev = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor,
				  .ino = st->stx_ino,
				  .birth_s = birth ? st->stx_btime.tv_sec : 0,
				  .birth_ns = birth ? st->stx_btime.tv_nsec : 0};
}

struct inode *leat_inode_find(const struct inodes *all, const struct statx *st)
{
	struct inode_key key = key_of(st);
	struct inode *inode;

	HASH_FIND(hh, all->by_key, &key, sizeof(key), inode);
	return inode;
}

struct inode *leat_inode_get(struct inodes *all, const struct statx *st, bool *known)
{
	struct inode *inode = leat_inode_find(all, st);

	*known = inode != NULL;
	if (inode)
		return inode;
	inode = calloc(1, sizeof(*inode));
	if (!inode)
		return NULL;
	inode->key = key_of(st);
	inode->id = ++all->last;
	HASH_ADD(hh, all->by_key, key, sizeof(inode->key), inode);
	return inode;
}

void leat_inode_gone(struct inodes *all, struct inode *inode)
{
	if (inode->gone)
		return;
	inode->gone = true;
	HASH_DEL(all->by_key, inode);
	if (!inode->handles)
		free(inode);
}

void leat_inodes_release(struct inodes *all)
{
	struct inode *inode, *next;

	HASH_ITER(hh, all->by_key, inode, next)
	{
		HASH_DEL(all->by_key, inode);
		inode->gone = true;
		if (!inode->handles)
			free(inode);
	}
}

struct handle *leat_handle_new(struct inode *inode, uint64_t id, uint32_t flags)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->id = id;
	h->inode = inode;
	h->flags = flags;
	h->refs = 1;
	inode->handles++;
	DL_APPEND(inode->open, h);
	return h;
}

void leat_handle_ref(struct handle *h)
{
	h->refs++;
}

bool leat_handle_unref(struct handle *h)
{
	return --h->refs == 0;
}

void leat_handle_free(struct handle *h)
{
	struct inode *inode = h->inode;

	DL_DELETE(inode->open, h);
	free(h);
	if (--inode->handles == 0 && inode->gone)
		free(inode);
}
