/* A directory of the workflow may be in the store and on disk: two halves of one. What leat carries
 * from the one to the other, nobody must get at who may not in the other. */
#include "store/tree.h"

#include "base/acting.h"
#include "base/beneath.h"
#include "base/fd.h"
#include "store/attributes.h"
#include "store/copy.h"
#include "store/times.h"
#include "store/tree_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RIGHTS = 07777 };

void leat_tree_distrust(struct leat_tree *t)
{
	t->distrusted = true;
	leat_tree_release_held(t);
}

bool leat_tree_is_distrusted(const struct leat_tree *t)
{
	return t->distrusted;
}

static enum leat_root other_half(enum leat_root root)
{
	return root == LEAT_ROOT_STORE ? LEAT_ROOT_DISK : LEAT_ROOT_STORE;
}

/* ---- are they one directory? ---- */

/* The same component in both. 1: the same rights to both, 0: not so, -errno: `a` cannot be entered.
 * Where `b` is none, nobody was given rights there. */
static int enter_both(int *a, int *b, const char *name)
{
	struct stat sa, sb;
	int next = leat_beneath_enter(*a, name), other;
	int saved = next;

	leat_close(a);
	*a = next;
	if (saved < 0)
		return saved;
	other = *b < 0 ? -1 : leat_beneath_enter(*b, name);
	leat_close(b);
	*b = other < 0 ? -1 : other;
	if (*b < 0)
		return 1;
	if (fstat(*a, &sa) < 0 || fstat(*b, &sb) < 0)
		return -errno;
	return sa.st_uid == sb.st_uid && sa.st_gid == sb.st_gid &&
	       (sa.st_mode & RIGHTS) == (sb.st_mode & RIGHTS);
}

/* The directory `dir` of `root`, all of whose directories have the rights that those of the other
 * half have. The descriptor, -EACCES, -errno. */
static int hold_alike(const struct leat_tree *t, enum leat_root root, char *dir)
{
	int fd = openat(t->fd[root], ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int other = openat(t->fd[other_half(root)], ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || other < 0 ? -errno : 1;
	char *rest = NULL;

	for (char *name = strtok_r(dir, "/", &rest); rc == 1 && name;
	     name = strtok_r(NULL, "/", &rest))
		rc = strcmp(name, "..") == 0 ? -EXDEV : enter_both(&fd, &other, name);
	leat_close(&other);
	if (rc == 1)
		return fd;
	if (fd >= 0)
		leat_close(&fd);
	return rc ? rc : -EACCES;
}

int leat_tree_hold_parent(const struct leat_tree *t, enum leat_root root, const char *path,
			  struct leat_beneath *b)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd;

	if (!t->distrusted || !slash || root == LEAT_ROOT_SPILL)
		return leat_beneath_find(t->fd[root], path, b);
	if ((size_t)(slash - path) >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = 0;
	fd = hold_alike(t, root, dir);
	if (fd < 0)
		return fd;
	*b = (struct leat_beneath){.dir = fd, .name = slash + 1, .owned = true};
	return 0;
}

static bool is_open_to_others(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_uid || (st.st_mode & (S_IWGRP | S_IWOTH));
}

bool leat_tree_is_exposed(const struct leat_tree *t, const char *path)
{
	int fd = t->fd[LEAT_ROOT_STORE];
	char copy[PATH_MAX], *rest = NULL;
	bool exposed = t->distrusted && is_open_to_others(fd);

	if (!t->distrusted || exposed || strlen(path) >= sizeof(copy))
		return t->distrusted;
	strcpy(copy, path);
	fd = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (char *name = strtok_r(copy, "/", &rest); !exposed && *rest;
	     name = strtok_r(NULL, "/", &rest)) {
		int next = leat_beneath_enter(fd, name);

		leat_close(&fd);
		fd = next;
		exposed = fd < 0 || is_open_to_others(fd);
	}
	if (fd >= 0)
		leat_close(&fd);
	return exposed;
}

/* ---- making the other half ---- */

static bool is_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	int n = 0;

	if (!dir) {
		leat_close(&copy);
		return false;
	}
	while (n < 3 && readdir(dir))
		n++;
	closedir(dir);
	return n < 3;
}

static int set_times(int fd, const struct stat *like)
{
	return leat_beneath_set_times(fd, (struct timespec[]){like->st_atim, like->st_mtim});
}

/* What mkdir does not set by itself: attributes, S_ISGID, what a default ACL has taken, and times.
 * With `name` it is reported which attributes are lost.
 * Only of what was just made: somebody who may rename there may have put another in its place. */
static int complete(const struct leat_beneath *b, const struct stat *like, int other,
		    const char *name)
{
	int fd = openat(b->dir, b->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	uid_t owner = geteuid() ? geteuid() : like->st_uid;
	struct stat st;
	int rc = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == owner && is_empty(fd)) {
		rc = leat_copy_attributes(other, fd, false);
		if (!rc && name)
			rc = leat_copy_xattrs(other, fd, LEAT_LIST_GOES, name, NULL);
		else if (!rc)
			leat_copy_attributes(other, fd, true); /* as far as they can be read */
		if (!rc && fstat(fd, &st) == 0 && (st.st_mode & RIGHTS) != (like->st_mode & RIGHTS))
			fchmod(fd, like->st_mode & RIGHTS);
		if (!rc)
			rc = set_times(fd, like);
	}
	leat_close(&fd);
	return rc;
}

/* It has owner and mode from the beginning: nothing is given away later by its name. */
static int make_like(const struct leat_beneath *b, const struct stat *like, int other,
		     const char *name)
{
	const struct leat_ids as = {.uid = like->st_uid, .gid = like->st_gid};
	bool changes = !geteuid() && (like->st_uid || like->st_gid);
	struct leat_acting own;
	mode_t mask;
	int rc = changes ? leat_acting_begin(&as, true, &own) : 0;

	if (rc)
		return rc;
	mask = umask(0);
	rc = mkdirat(b->dir, b->name, like->st_mode & RIGHTS) < 0 ? -errno : 0;
	umask(mask);
	if (!rc)
		rc = complete(b, like, other, name);
	if (changes)
		leat_acting_end(&own);
	return rc;
}

/* To those who see both halves as one it is shown as the other is. */
static void show_as(struct leat_quiet *quiet, int fd, const struct stat *like)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		leat_quiet_show(quiet, fd, leat_shown_ctime(quiet->shm, like));
}

/* The directory above has not changed by it either. */
static int make_unseen(const struct leat_tree *t, const struct leat_beneath *b,
		       const struct stat *like, int other, const char *name)
{
	struct leat_quiet quiet;
	int rc, made = -1;

	leat_quiet_begin(&quiet, t->shm, b->dir);
	rc = make_like(b, like, other, name);
	if (!rc)
		made = leat_beneath_enter(b->dir, b->name);
	show_as(&quiet, made, like);
	leat_quiet_end(&quiet);
	if (made >= 0)
		leat_close(&made);
	return rc;
}

/* What is made in a directory of the spill has the rights that it would have beside the others, as
 * far as they can be kept there. */
static void give_default_list(const struct leat_tree *t, const struct leat_beneath *b,
			      const char *path)
{
	int in = leat_beneath_open(t->fd[LEAT_ROOT_STORE], path, O_PATH | O_DIRECTORY, 0);
	int out;

	if (in < 0)
		in = leat_beneath_open(t->fd[LEAT_ROOT_DISK], path, O_PATH | O_DIRECTORY, 0);
	if (in < 0)
		return;
	out = leat_beneath_enter(b->dir, b->name);
	if (out >= 0) {
		leat_copy_default_list(in, out);
		leat_close(&out);
	}
	leat_close(&in);
}

static int make_missing(struct leat_tree *t, enum leat_root root, const char *path)
{
	bool spill = root == LEAT_ROOT_SPILL; /* nobody but leat looks at those */
	struct leat_beneath b;
	struct stat like, st;
	int other = -1, rc = leat_tree_hold_parent(t, root, path, &b);

	if (rc)
		return rc;
	if (!spill)
		other = leat_beneath_open(t->fd[other_half(root)], path, O_PATH | O_DIRECTORY, 0);
	if (other >= 0 && fstat(other, &like) == 0)
		rc = make_unseen(t, &b, &like, other, root == LEAT_ROOT_DISK ? path : NULL);
	else
		rc = mkdirat(b.dir, b.name, spill ? 0700 : 0777) < 0 ? -errno : 0;
	if (!rc && spill)
		give_default_list(t, &b, path);
	if (rc == -EEXIST) {
		rc = fstatat(b.dir, b.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
		if (!rc && !S_ISDIR(st.st_mode))
			rc = -ENOTDIR;
	}
	if (other >= 0)
		close(other);
	leat_beneath_release(&b);
	return rc;
}

int leat_tree_make_dir(struct leat_tree *t, enum leat_root root, const char *path)
{
	struct leat_tree_dir *d = leat_tree_dir_find(t, path);
	int rc;

	if (!*path || (d && d->in[root]))
		return 0;
	rc = leat_tree_make_parents(t, root, path);
	if (!rc)
		rc = make_missing(t, root, path);
	if (rc)
		return rc;
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

/* ---- copies ---- */

/* The name was there before, in another place. */
static int copy_symlink(const struct leat_tree *t, int from, const struct leat_beneath *to)
{
	struct leat_quiet quiet;
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, "", target, sizeof(target) - 1);
	int rc;

	if (n < 0)
		return -errno;
	target[n] = 0;
	leat_quiet_begin(&quiet, t->shm, to->dir);
	rc = symlinkat(target, to->dir, to->name) < 0 ? -errno : 0;
	leat_quiet_end(&quiet);
	return rc;
}

static int make_file(const struct leat_tree *t, const struct leat_beneath *to)
{
	struct leat_quiet quiet;
	int fd;

	leat_quiet_begin(&quiet, t->shm, to->dir);
	fd = openat(to->dir, to->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	fd = fd < 0 ? -errno : fd;
	leat_quiet_end(&quiet);
	return fd;
}

static int copy_file(const struct leat_tree *t, int from, const struct stat *st,
		     const struct leat_beneath *to, bool empty, const char *name)
{
	int in = empty ? -1 : leat_beneath_reopen(from, O_RDONLY);
	int out = !empty && in < 0 ? in : make_file(t, to);
	int rc = out < 0 ? out : 0;

	if (!rc && !empty)
		rc = leat_copy_data(in, out, (uint64_t)st->st_size, LEAT_COPY_FAST);
	if (!rc)
		rc = leat_copy_meta(from, out, st, LEAT_LIST_GOES, name);
	if (rc && out >= 0)
		unlinkat(to->dir, to->name, 0);
	if (out >= 0)
		close(out);
	leat_close(&in);
	return rc;
}

int leat_tree_copy(struct leat_tree *t, int from, enum leat_root to, const char *to_path,
		   bool empty)
{
	struct leat_beneath b;
	struct stat st;
	int rc = fstat(from, &st) < 0 ? -errno : leat_tree_make_parents(t, to, to_path);

	if (!rc && !S_ISLNK(st.st_mode) && !S_ISREG(st.st_mode))
		return -EINVAL;
	if (!rc)
		rc = leat_tree_hold_parent(t, to, to_path, &b);
	if (rc)
		return rc;
	rc = S_ISLNK(st.st_mode) ? copy_symlink(t, from, &b)
				 : copy_file(t, from, &st, &b, empty, to_path);
	leat_beneath_release(&b);
	return rc;
}
