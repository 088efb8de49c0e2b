/* Path lookup over both places. See path_resolution(7) for what it must mean. */
#include "store/tree.h"

#include "base/beneath.h"
#include "base/str.h"
#include "store/tree_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as the kernel */

struct walk {
	struct leat_tree *t;
	struct leat_found *out; /* out->path: the directory reached so far */
	size_t length;          /* of out->path */
	unsigned links;
	unsigned missing; /* trailing components of out->path that do not exist */
	bool have_stat;   /* out->st and out->root describe out->path */
	enum leat_find how;
	bool spelt;
	char rest[2 * PATH_MAX]; /* still to walk */
	char next[2 * PATH_MAX]; /* scratch: rest behind a symlink */
};

static void cut(struct walk *w, size_t length)
{
	w->length = length;
	w->out->path[length] = 0;
	w->have_stat = false;
}

/* "." and ".." are looked up in a directory as any name is, and a name that is too long is not
 * looked for where none may be. */
static int search(const struct walk *w)
{
	const struct leat_found *out = w->out;

	if (out->outside || w->missing || !w->length)
		return 0;
	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_DISK; root++)
		if (leat_tree_fd(w->t, root) >= 0 &&
		    leat_beneath_access(leat_tree_fd(w->t, root), out->path, X_OK) == -EACCES)
			return -EACCES;
	return 0;
}

/* In the outside an empty path is "/". */
static int append(struct walk *w, const char *name, size_t size)
{
	char *path = w->out->path;
	bool slash = w->length || w->out->outside;

	if (size > NAME_MAX) {
		int rc = search(w);

		return rc ? rc : -ENAMETOOLONG;
	}
	if (w->length + slash + size >= sizeof(w->out->path))
		return -ENAMETOOLONG;
	if (slash)
		path[w->length++] = '/';
	memcpy(path + w->length, name, size);
	cut(w, w->length + size);
	return 0;
}

/* A path from outside may lead back into the workflow's directory, or into the
 * store by the name /proc shows. */
static void come_in(struct walk *w)
{
	struct leat_found *out = w->out;

	if (!out->outside || w->missing)
		return;
	if (strcmp(out->path, w->t->disk_path) == 0 || strcmp(out->path, w->t->store_path) == 0 ||
	    (w->t->spill_path && strcmp(out->path, w->t->spill_path) == 0)) {
		out->outside = false;
		cut(w, 0);
	}
}

static void go_up(struct walk *w)
{
	struct leat_found *out = w->out;
	const char *slash;

	if (!out->outside && !w->length) {
		out->outside = true;
		w->length = strlen(w->t->disk_path);
		memcpy(out->path, w->t->disk_path, w->length + 1);
	}
	slash = strrchr(out->path, '/');
	cut(w, slash ? (size_t)(slash - out->path) : 0);
	if (w->missing)
		w->missing--;
	come_in(w);
}

/* As the kernel, which looks at each component, also at one that a ".." follows. What is missing
 * outside it finds out itself. */
static void stop_before_up(struct walk *w)
{
	struct leat_found *out = w->out;

	if (out->outside) {
		memmove(w->rest + 2, w->rest, strlen(w->rest) + 1);
		memcpy(w->rest, "..", 2);
		return;
	}
	for (; w->missing > 1; w->missing--)
		cut(w, (size_t)(strrchr(out->path, '/') - out->path));
	w->rest[0] = 0;
	out->last = LEAT_LAST_NAME;
	out->before_up = out->dir_wanted = true;
}

static int look_here(struct walk *w)
{
	struct leat_found *out = w->out;

	if (!out->outside)
		return leat_tree_look(w->t, out->path, &out->root, &out->st);
	out->root = LEAT_ROOT_DISK;
	return leat_beneath_stat(AT_FDCWD, out->path, &out->st);
}

/* What is asked for by a symlink that has just been reached: its name and the rest behind it. After
 * a ".." that is another name than it seems, and the symlink's own stands for it. */
static size_t name_by_link(const struct walk *w, char *name)
{
	size_t length = w->length, size;

	memcpy(name, w->out->path, length);
	for (const char *rest = w->rest; *rest; rest += size) {
		rest += strspn(rest, "/");
		size = strcspn(rest, "/");
		if (size == 2 && rest[0] == '.' && rest[1] == '.') {
			length = w->length;
			break;
		}
		if (!size || (size == 1 && *rest == '.'))
			continue;
		if (length + size + 2 > PATH_MAX)
			break;
		name[length++] = '/';
		memcpy(name + length, rest, size);
		length += size;
	}
	name[length] = 0;
	return length + 1;
}

static void note_link(const struct walk *w)
{
	struct leat_found *out = w->out;
	char *links = out->links + out->links_size, name[PATH_MAX];
	size_t link_size = w->length + 1, name_size;

	if (out->outside)
		return;
	name_size = name_by_link(w, name);
	if (link_size + name_size > sizeof(out->links) - out->links_size)
		return;
	memcpy(links, out->path, link_size);
	memcpy(links + link_size, name, name_size);
	out->links_size += link_size + name_size;
}

/* Puts the symlink's target in front of the rest; `length` cuts its name off. */
static int enter_link(struct walk *w, size_t length)
{
	struct leat_found *out = w->out;
	int fd = out->outside ? AT_FDCWD : leat_tree_fd(w->t, out->root);
	ssize_t n;
	size_t rest = strlen(w->rest);

	if (++w->links > MAX_LINKS)
		return -ELOOP;
	n = leat_beneath_readlink(fd, out->path, w->next, PATH_MAX);
	if (n < 0)
		return (int)n;
	if (n >= PATH_MAX || (size_t)n + rest + 2 > sizeof(w->next))
		return -ENAMETOOLONG;
	note_link(w);
	memcpy(w->next + n, w->rest, rest + 1);
	memcpy(w->rest, w->next, (size_t)n + rest + 1);
	cut(w, length);
	if (w->rest[0] == '/') {
		out->outside = true;
		cut(w, 0);
	}
	return 0;
}

static bool is_followed(const struct walk *w, bool last)
{
	if (!last || w->how == LEAT_FIND_FOLLOW)
		return true;
	return w->out->dir_wanted && w->how != LEAT_FIND_NAME;
}

/* One component that is neither "." nor "..". `last`: only slashes may follow. */
static int step(struct walk *w, const char *name, size_t size, bool last)
{
	struct leat_found *out = w->out;
	size_t before = w->length;
	int rc = append(w, name, size);

	if (rc)
		return rc;
	if (w->missing) {
		w->missing++;
		return 0;
	}
	if (!last && !out->outside && leat_tree_dir_find(w->t, out->path))
		return 0;
	rc = look_here(w);
	if (rc == -ENOENT) {
		w->missing = 1;
		return 0;
	}
	if (rc)
		return rc;
	w->have_stat = true;
	if (S_ISLNK(out->st.st_mode) && is_followed(w, last))
		return enter_link(w, before);
	if (!S_ISDIR(out->st.st_mode))
		return last && (!out->dir_wanted || w->how == LEAT_FIND_NAME) ? 0 : -ENOTDIR;
	if (!out->outside)
		leat_tree_dir_note(w->t, out->path);
	come_in(w);
	return 0;
}

/* /proc and /dev lead back to the process that asks: only it can walk them. */
static bool is_magic(const struct walk *w)
{
	return w->out->outside &&
	       (strcmp(w->out->path, "/proc") == 0 || strcmp(w->out->path, "/dev") == 0);
}

static int walk(struct walk *w)
{
	int rc = 0;

	while (!rc && !is_magic(w)) {
		size_t skip = strspn(w->rest, "/");
		size_t size = strcspn(w->rest + skip, "/");
		const char *name = w->next;
		bool last;

		if (!size)
			return 0;
		memcpy(w->next, w->rest + skip, size);
		w->next[size] = 0;
		memmove(w->rest, w->rest + skip + size, strlen(w->rest + skip + size) + 1);
		last = w->rest[strspn(w->rest, "/")] == 0;
		if (last && w->rest[0])
			w->out->dir_wanted = true;
		if (size == 2 && leat_is_dots(name) && w->missing && !w->spelt) {
			stop_before_up(w);
			return 0;
		}
		if (leat_is_dots(name)) {
			rc = search(w);
			w->out->dir_wanted |= last;
			w->out->last = size == 2 ? LEAT_LAST_DOTDOT : LEAT_LAST_DOT;
			if (size == 2 && !rc)
				go_up(w);
		} else {
			w->out->last = LEAT_LAST_NAME;
			w->out->name_slash |= last && w->rest[0] && !w->missing;
			rc = step(w, name, size, last);
		}
	}
	return rc;
}

/* What was reached without looking at it: the top, or by "..". */
static int finish(struct walk *w)
{
	struct leat_found *out = w->out;
	int rc;

	if (out->outside) {
		/* What is behind /proc or /dev is left to the process. */
		while (w->rest[0] == '/')
			memmove(w->rest, w->rest + 1, strlen(w->rest));
		if (w->rest[0] || !w->length) {
			if (w->length + strlen(w->rest) + 2 > sizeof(out->path))
				return -ENAMETOOLONG;
			out->path[w->length] = '/';
			strcpy(out->path + w->length + 1, w->rest);
		}
		out->parent_missing = false;
		out->root = LEAT_ROOT_NONE;
		return 0;
	}
	out->parent_missing = out->before_up || w->missing > (out->last == LEAT_LAST_NAME);
	if (w->missing) {
		out->root = LEAT_ROOT_NONE;
		return 0;
	}
	if (w->have_stat)
		return 0;
	rc = look_here(w);
	if (rc == -ENOENT) { /* a remembered directory is gone: somebody past leat removed it */
		leat_tree_forget(w->t);
		out->root = LEAT_ROOT_NONE;
		rc = 0;
	}
	return rc;
}

static int find(struct leat_tree *t, const char *path, enum leat_find how, struct leat_found *found)
{
	struct walk w;
	int rc;

	/* Not `rest` and `next`: clearing them took as long as the walk. */
	memset(&w, 0, offsetof(struct walk, rest));
	w.t = t;
	w.out = found;
	w.how = (enum leat_find)(how & ~LEAT_FIND_SPELT);
	w.spelt = how & LEAT_FIND_SPELT;
	strcpy(w.rest, path);
	leat_found_init(found);
	found->outside = path[0] == '/';
	rc = walk(&w);
	return rc ? rc : finish(&w);
}

int leat_tree_find(struct leat_tree *t, const char *path, enum leat_find how,
		   struct leat_found *found)
{
	int rc;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	rc = find(t, path, how, found);
	/* A directory may have become a symlink past leat. */
	if ((rc != -ELOOP && rc != -ENOTDIR) || !t->dirs)
		return rc;
	leat_tree_forget(t);
	return find(t, path, how, found);
}
