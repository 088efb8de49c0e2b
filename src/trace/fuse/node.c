/* Files: as the kernel knows them, and as the trace names them. */
#include "base/fd.h"
#include "base/str.h"
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* What tells a file from others, also those before and after it with its number. */
struct file_key {
	uint64_t dev, ino;
	int64_t birth_s, birth_ns; /* 0 where the file system has none */
};

struct file_id {
	UT_hash_handle hh;
	struct file_key key;
	uint64_t id;
};

struct node {
	UT_hash_handle hh;
	struct file_key key;
	int fd; /* owned; O_PATH */
	uint64_t lookups;
};

struct overlay *overlay_of(fuse_req_t req)
{
	return leat_fuse_context(req);
}

struct node *node_of(struct overlay *o, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? o->root : (struct node *)(uintptr_t)ino;
}

int node_fd(const struct node *node)
{
	return node->fd;
}

void node_door(const struct node *node, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", node->fd);
}

/* ---- ids ---- */

static struct file_key key_of(const struct statx *st)
{
	bool birth = st->stx_mask & STATX_BTIME;

	return (struct file_key){.dev = makedev(st->stx_dev_major, st->stx_dev_minor),
				 .ino = st->stx_ino,
				 .birth_s = birth ? st->stx_btime.tv_sec : 0,
				 .birth_ns = birth ? st->stx_btime.tv_nsec : 0};
}

uint64_t file_id_of(struct overlay *o, const struct statx *st)
{
	struct file_key key = key_of(st);
	struct file_id *f;

	HASH_FIND(hh, o->files, &key, sizeof(key), f);
	if (f)
		return f->id;
	f = calloc(1, sizeof(*f));
	if (!f)
		return 0;
	f->key = key;
	f->id = ++o->last_file;
	HASH_ADD(hh, o->files, key, sizeof(f->key), f);
	if (f->hh.tbl)
		return f->id;
	free(f); /* no memory for the table */
	return 0;
}

void file_id_removed(struct overlay *o, const struct statx *before)
{
	struct file_key key = key_of(before);
	struct file_id *f;

	if (before->stx_nlink > 1)
		return;
	pthread_mutex_lock(&o->lock);
	HASH_FIND(hh, o->files, &key, sizeof(key), f);
	if (f) {
		HASH_DEL(o->files, f);
		free(f);
	}
	pthread_mutex_unlock(&o->lock);
}

/* ---- attributes ---- */

void stat_of(const struct statx *x, struct stat *st)
{
	*st = (struct stat){.st_dev = makedev(x->stx_dev_major, x->stx_dev_minor),
			    .st_ino = x->stx_ino,
			    .st_mode = x->stx_mode,
			    .st_nlink = x->stx_nlink,
			    .st_uid = x->stx_uid,
			    .st_gid = x->stx_gid,
			    .st_rdev = makedev(x->stx_rdev_major, x->stx_rdev_minor),
			    .st_size = (off_t)x->stx_size,
			    .st_blksize = (blksize_t)x->stx_blksize,
			    .st_blocks = (blkcnt_t)x->stx_blocks,
			    .st_atim = {x->stx_atime.tv_sec, x->stx_atime.tv_nsec},
			    .st_mtim = {x->stx_mtime.tv_sec, x->stx_mtime.tv_nsec},
			    .st_ctim = {x->stx_ctime.tv_sec, x->stx_ctime.tv_nsec}};
}

void show(const struct overlay *o, struct stat *st)
{
	/* Ids that the namespace does not have would have the kernel refuse before it asks us. */
	if (!o->own_users)
		return;
	st->st_uid = geteuid();
	st->st_gid = getegid();
}

static int look_at(int fd, const char *name, struct statx *x)
{
	return statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH,
		     STATX_BASIC_STATS | STATX_BTIME, x) < 0
		       ? -errno
		       : 0;
}

int node_statx(const struct node *dir, const char *name, struct statx *x)
{
	return look_at(dir->fd, name, x);
}

/* ---- nodes ---- */

/* Takes the descriptor. The lock is held. */
static struct node *get_node(struct overlay *o, int fd, const struct statx *x)
{
	struct file_key key = key_of(x);
	struct node *node;

	HASH_FIND(hh, o->nodes, &key, sizeof(key), node);
	if (node) {
		/* Of several names it has that by which it was looked up last: another may go. */
		if (!S_ISDIR(x->stx_mode))
			dup3(fd, node->fd, O_CLOEXEC);
		close(fd);
		return node;
	}
	node = calloc(1, sizeof(*node));
	if (node) {
		node->key = key;
		node->fd = fd;
		HASH_ADD(hh, o->nodes, key, sizeof(node->key), node);
		if (node->hh.tbl)
			return node;
	}
	free(node);
	close(fd);
	return NULL;
}

int node_look(struct overlay *o, struct node *dir, const char *name, struct fuse_entry_param *e)
{
	int fd = openat(dir->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct node *node;
	struct statx x;
	int rc = fd < 0 ? -errno : look_at(fd, "", &x);

	if (rc) {
		leat_close(&fd);
		return rc;
	}
	/* What is outside may change at any time: nothing is taken to last. */
	*e = (struct fuse_entry_param){0};
	stat_of(&x, &e->attr);
	show(o, &e->attr);
	pthread_mutex_lock(&o->lock);
	node = get_node(o, fd, &x);
	if (node)
		node->lookups++;
	pthread_mutex_unlock(&o->lock);
	e->ino = (fuse_ino_t)(uintptr_t)node;
	return node ? 0 : -ENOMEM;
}

static void drop(struct overlay *o, struct node *node)
{
	HASH_DEL(o->nodes, node);
	close(node->fd);
	free(node);
}

void node_forget(struct overlay *o, fuse_ino_t ino, uint64_t lookups)
{
	struct node *node = node_of(o, ino);

	if (node == o->root)
		return;
	pthread_mutex_lock(&o->lock);
	node->lookups -= lookups < node->lookups ? lookups : node->lookups;
	if (!node->lookups)
		drop(o, node);
	pthread_mutex_unlock(&o->lock);
}

bool node_path(const struct node *node, const char *name, char path[PATH_MAX])
{
	static const char gone[] = " (deleted)";
	char door[32];
	ssize_t n;
	struct stat st;

	node_door(node, door);
	n = readlink(door, path, PATH_MAX - 1);
	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = '\0';
	if ((size_t)n > strlen(gone) && strcmp(path + n - strlen(gone), gone) == 0 &&
	    fstat(node->fd, &st) == 0 && !st.st_nlink) {
		n -= (ssize_t)strlen(gone);
		path[n] = '\0';
	}
	if (!name)
		return true;
	if ((size_t)n + strlen(name) + 2 > PATH_MAX)
		return false;
	if (path[n - 1] != '/')
		path[n++] = '/';
	strcpy(path + n, name);
	return true;
}

int nodes_init(struct overlay *o)
{
	struct statx x;
	int rc = look_at(o->dir_fd, "", &x);

	if (rc)
		return rc;
	o->root = calloc(1, sizeof(*o->root));
	if (!o->root)
		return -ENOMEM;
	o->root->key = key_of(&x);
	o->root->fd = o->dir_fd;
	return 0;
}

void nodes_release(struct overlay *o)
{
	struct node *node, *next;
	struct file_id *f, *next_f;

	HASH_ITER(hh, o->nodes, node, next)
	drop(o, node);
	HASH_ITER(hh, o->files, f, next_f)
	{
		HASH_DEL(o->files, f);
		free(f);
	}
	free(o->root);
	o->root = NULL;
}
