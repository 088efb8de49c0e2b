#include "store/tree.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/str.h"
#include "store/tree_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Enough for any workflow; a hostile client cannot make it grow for ever. */
#define MAX_DIRS 65536u

struct leat_tree *leat_tree_new(int store_fd, const char *store_path, int disk_fd,
				const char *disk_path)
{
	struct leat_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->fd[LEAT_ROOT_NONE] = -1;
	t->fd[LEAT_ROOT_STORE] = store_fd;
	t->fd[LEAT_ROOT_SPILL] = -1;
	t->fd[LEAT_ROOT_DISK] = disk_fd;
	t->store_path = strdup(store_path);
	t->disk_path = strdup(disk_path);
	if (!t->store_path || !t->disk_path) {
		leat_tree_free(t);
		return NULL;
	}
	return t;
}

void leat_tree_set_shm(struct leat_tree *t, struct leat_shm *shm)
{
	t->shm = shm;
}

int leat_tree_set_spill(struct leat_tree *t, int spill_fd, const char *spill_path)
{
	char *copy = strdup(spill_path);

	if (!copy)
		return -ENOMEM;
	free(t->spill_path);
	t->spill_path = copy;
	t->fd[LEAT_ROOT_SPILL] = spill_fd;
	return 0;
}

void leat_tree_release_held(struct leat_tree *t)
{
	for (struct leat_tree_held *h = t->held; h < t->held + LEAT_TREE_HELD; h++) {
		if (!h->path)
			continue;
		leat_close(&h->fd);
		free(h->path);
		h->path = NULL;
	}
}

void leat_tree_forget(struct leat_tree *t)
{
	struct leat_tree_dir *d, *next;

	leat_tree_release_held(t);

	HASH_ITER(hh, t->dirs, d, next)
	{
		HASH_DEL(t->dirs, d);
		free(d);
	}
}

void leat_tree_free(struct leat_tree *t)
{
	int saved = errno;

	if (!t)
		return;
	leat_tree_forget(t);
	free(t->store_path);
	free(t->disk_path);
	free(t->spill_path);
	free(t);
	errno = saved;
}

int leat_tree_fd(const struct leat_tree *t, enum leat_root root)
{
	return t->fd[root];
}

static struct leat_tree_held *find_held(struct leat_tree *t, enum leat_root root, const char *path,
					size_t length)
{
	for (struct leat_tree_held *h = t->held; h < t->held + LEAT_TREE_HELD; h++)
		if (h->path && h->root == root && strncmp(h->path, path, length) == 0 &&
		    !h->path[length])
			return h;
	return NULL;
}

/* The directory of so many bytes of `path`, borrowed, or -errno. */
static int hold_dir(struct leat_tree *t, enum leat_root root, const char *path, size_t length)
{
	struct leat_tree_held *h = find_held(t, root, path, length);
	char *dir;
	int fd;

	if (h)
		return h->fd;
	dir = strndup(path, length);
	fd = dir ? leat_beneath_open(t->fd[root], dir, O_PATH | O_DIRECTORY, 0) : -ENOMEM;
	if (fd < 0) {
		free(dir);
		return fd;
	}
	h = &t->held[t->next_held++ % LEAT_TREE_HELD];
	if (h->path)
		leat_close(&h->fd);
	free(h->path);
	*h = (struct leat_tree_held){.root = root, .path = dir, .fd = fd};
	return fd;
}

/* In leat's own places nobody but leat moves directories, and says so (leat_tree_forget), as long
 * as nobody else is there who could. */
static int stat_in(struct leat_tree *t, enum leat_root root, const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	int dir;

	if (!slash || slash == path || !slash[1] || t->distrusted || !leat_root_is_ours(root))
		return leat_beneath_stat(t->fd[root], path, st);
	dir = hold_dir(t, root, path, (size_t)(slash - path));
	if (dir < 0)
		return dir;
	return leat_beneath_stat(dir, slash + 1, st);
}

bool leat_tree_has(struct leat_tree *t, enum leat_root root, const char *path, struct stat *st)
{
	struct stat local;
	int rc = stat_in(t, root, path, st ? st : &local);

	errno = -rc;
	return !rc;
}

/* Directories are there for the files in them only. */
static bool is_spilled(struct leat_tree *t, const char *path, struct stat *st)
{
	return t->fd[LEAT_ROOT_SPILL] >= 0 && leat_tree_has(t, LEAT_ROOT_SPILL, path, st) &&
	       !S_ISDIR(st->st_mode);
}

bool leat_tree_has_ours(struct leat_tree *t, const char *path, enum leat_root *root,
			struct stat *st)
{
	*root = LEAT_ROOT_STORE;
	if (leat_tree_has(t, LEAT_ROOT_STORE, path, st))
		return true;
	*root = LEAT_ROOT_SPILL;
	return is_spilled(t, path, st);
}

/* A directory of the store hides a symlink that has its name on disk. */
static bool has_parent(struct leat_tree *t, const char *path)
{
	struct leat_beneath b;

	if (leat_beneath_find(t->fd[LEAT_ROOT_STORE], path, &b))
		return false;
	leat_beneath_release(&b);
	return true;
}

int leat_tree_look(struct leat_tree *t, const char *path, enum leat_root *root, struct stat *st)
{
	struct stat local, other;

	st = st ? st : &local;
	if (leat_tree_has(t, LEAT_ROOT_STORE, path, st)) {
		*root = LEAT_ROOT_STORE;
		if (S_ISDIR(st->st_mode) && leat_tree_has(t, LEAT_ROOT_DISK, path, &other) &&
		    S_ISDIR(other.st_mode)) {
			*root = LEAT_ROOT_DISK;
			*st = other;
		}
		return 0;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return -errno;
	if (is_spilled(t, path, st)) {
		*root = LEAT_ROOT_SPILL;
		return 0;
	}
	if (!leat_tree_has(t, LEAT_ROOT_DISK, path, st))
		return errno == ELOOP && has_parent(t, path) ? -ENOENT : -errno;
	*root = LEAT_ROOT_DISK;
	return 0;
}

struct leat_tree_dir *leat_tree_dir_find(struct leat_tree *t, const char *path)
{
	struct leat_tree_dir *d;

	HASH_FIND_STR(t->dirs, path, d);
	return d;
}

struct leat_tree_dir *leat_tree_dir_note(struct leat_tree *t, const char *path)
{
	struct leat_tree_dir *d = leat_tree_dir_find(t, path);
	size_t size = strlen(path) + 1;

	if (d)
		return d;
	if (HASH_COUNT(t->dirs) >= MAX_DIRS)
		leat_tree_forget(t);
	d = calloc(1, sizeof(*d) + size);
	if (!d)
		return NULL;
	memcpy(d->path, path, size);
	HASH_ADD_STR(t->dirs, path, d);
	return d;
}

static const char *below(const char *path, const char *top)
{
	size_t length = strlen(top);

	if (strncmp(path, top, length) != 0)
		return NULL;
	if (path[length] == 0)
		return path + length;
	return path[length] == '/' ? path + length + 1 : NULL;
}

const char *leat_tree_inside(const struct leat_tree *t, const char *path)
{
	const char *name = t->spill_path ? below(path, t->spill_path) : NULL;

	/* The spill directory may be in the workflow's, and the session's, where the store is. */
	if (!name)
		name = below(path, t->store_path);
	return name ? name : below(path, t->disk_path);
}
