#include "store/tree.h"

#include "base/str.h"
#include "store/copy.h"
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

void leat_tree_forget(struct leat_tree *t)
{
	struct leat_tree_dir *d, *next;

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

/* "." for the top: the *at calls take no empty path. */
static const char *at_path(const char *path)
{
	return *path ? path : ".";
}

bool leat_tree_has(struct leat_tree *t, enum leat_root root, const char *path, struct stat *st)
{
	struct stat local;

	return fstatat(t->fd[root], at_path(path), st ? st : &local, AT_SYMLINK_NOFOLLOW) == 0;
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
		return -errno;
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

/* Mode of a new directory in `root`. Nobody but leat looks at those of the spill
 * directory. */
static mode_t mode_for(struct leat_tree *t, enum leat_root root, const char *path)
{
	const enum leat_root other = root == LEAT_ROOT_STORE ? LEAT_ROOT_DISK : LEAT_ROOT_STORE;
	struct stat st;

	if (root == LEAT_ROOT_SPILL)
		return 0700;
	if (leat_tree_has(t, other, path, &st) && S_ISDIR(st.st_mode))
		return st.st_mode & 07777;
	return 0777;
}

/* What may be done in the one place may be done in the other. Only root can give files away. */
static void mirror(struct leat_tree *t, enum leat_root root, const char *path)
{
	const enum leat_root other = root == LEAT_ROOT_STORE ? LEAT_ROOT_DISK : LEAT_ROOT_STORE;
	struct stat st;

	if (root == LEAT_ROOT_SPILL || !leat_tree_has(t, other, path, &st) || !S_ISDIR(st.st_mode))
		return;
	if (!geteuid() && (st.st_uid || st.st_gid) &&
	    fchownat(t->fd[root], path, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	fchmodat(t->fd[root], path, st.st_mode & 07777, 0);
}

int leat_tree_make_dir(struct leat_tree *t, enum leat_root root, const char *path)
{
	struct leat_tree_dir *d = leat_tree_dir_find(t, path);
	struct stat st;
	int rc;

	if (!*path || (d && d->in[root]))
		return 0;
	rc = leat_tree_make_parents(t, root, path);
	if (rc)
		return rc;
	if (mkdirat(t->fd[root], path, mode_for(t, root, path)) == 0) {
		mirror(t, root, path);
	} else {
		if (errno != EEXIST)
			return -errno;
		if (!leat_tree_has(t, root, path, &st))
			return -errno;
		if (!S_ISDIR(st.st_mode))
			return -ENOTDIR;
	}
	d = leat_tree_dir_note(t, path);
	if (d)
		d->in[root] = true;
	return 0;
}

int leat_tree_make_parents(struct leat_tree *t, enum leat_root root, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	if (!slash)
		return 0;
	if ((size_t)(slash - path) >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = 0;
	return leat_tree_make_dir(t, root, dir);
}

static int copy_symlink(int from, const char *path, int to, const char *to_path)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, path, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = 0;
	return symlinkat(target, to, to_path) < 0 ? -errno : 0;
}

int leat_tree_copy(struct leat_tree *t, enum leat_root from, const char *path, enum leat_root to,
		   const char *to_path, bool empty)
{
	struct stat st;
	int in = -1, out = -1;
	int rc = leat_tree_make_parents(t, to, to_path);

	if (rc)
		return rc;
	if (!leat_tree_has(t, from, path, &st))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return copy_symlink(t->fd[from], path, t->fd[to], to_path);
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	in = openat(t->fd[from], path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0)
		return -errno;
	out = openat(t->fd[to], to_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		     0600);
	if (out < 0) {
		rc = -errno;
		goto out;
	}
	if (!empty)
		rc = leat_copy_data(in, out, (uint64_t)st.st_size);
	if (!rc)
		rc = leat_copy_meta(out, &st);
	if (rc)
		unlinkat(t->fd[to], to_path, 0);
out:
	if (out >= 0)
		close(out);
	close(in);
	return rc;
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

	/* The spill directory may be in the workflow's. */
	if (!name)
		name = below(path, t->disk_path);
	return name ? name : below(path, t->store_path);
}
