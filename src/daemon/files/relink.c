/* Names of one file, hard links, are links on disk, too. Each name is saved by itself, when it is
 * complete; before a staged step, and at the end, those of one file are made one again. */
#include "daemon/files/relink.h"

#include "base/beneath.h"
#include "daemon/core/problems.h"
#include "daemon/files/files.h"
#include "store/persist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A saved name of a file that has others in the store. */
struct name {
	struct leat_file *f;
	struct leat_inode of; /* in the store */
};

static int by_inode(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->of.dev != y->of.dev)
		return x->of.dev < y->of.dev ? -1 : 1;
	if (x->of.ino != y->of.ino)
		return x->of.ino < y->of.ino ? -1 : 1;
	return strcmp(x->f->name, y->f->name);
}

static size_t collect(struct leat_daemon *d, struct name *v)
{
	struct leat_file *f;
	enum leat_root root;
	struct stat st;
	size_t n = 0;

	for (f = d->files->by_name; f; f = f->hh.next)
		if (f->saved && !f->save_error &&
		    leat_tree_has_ours(d->tree, f->name, &root, &st) && S_ISREG(st.st_mode) &&
		    st.st_nlink > 1)
			v[n++] = (struct name){f, {st.st_dev, st.st_ino}};
	qsort(v, n, sizeof(*v), by_inode);
	return n;
}

/* Hold what leat has put on disk by that name. 0 or -errno. */
static int hold_saved(struct leat_daemon *d, const struct leat_file *f, struct leat_beneath *at,
		      struct stat *st)
{
	int rc = leat_tree_hold_parent(d->tree, LEAT_ROOT_DISK, f->name, at);

	if (rc)
		return rc;
	rc = leat_beneath_stat(at->dir, at->name, st);
	if (!rc && (!S_ISREG(st->st_mode) || !leat_inode_is(&f->on_disk, st)))
		rc = -ESTALE;
	if (rc)
		leat_beneath_release(at);
	return rc;
}

static int link_to(const struct leat_beneath *first, struct leat_beneath *at)
{
	struct leat_persist p;
	int rc = leat_persist_make_link(&p, at, first);

	return rc ? rc : leat_persist_take(&p);
}

/* `other` becomes a name of what `f` is on disk. */
static int join(struct leat_daemon *d, const struct leat_file *f, struct leat_file *other)
{
	struct leat_beneath first, at;
	struct stat one, two;
	int rc = hold_saved(d, f, &first, &one);

	if (rc)
		return rc;
	rc = hold_saved(d, other, &at, &two);
	if (!rc && one.st_dev == two.st_dev && one.st_ino == two.st_ino)
		leat_beneath_release(&at);
	else if (!rc)
		rc = link_to(&first, &at);
	if (!rc)
		other->on_disk = f->on_disk;
	leat_beneath_release(&first);
	return rc;
}

void leat_files_relink(struct leat_daemon *d)
{
	struct name *v = calloc(HASH_COUNT(d->files->by_name) + 1, sizeof(*v));
	size_t n = v ? collect(d, v) : 0, first = 0;

	if (!v)
		leat_problem_add(d, -ENOMEM, "out of memory: names of one file are not linked");
	for (size_t i = 1; i < n; i++) {
		int rc;

		if (v[i].of.dev != v[first].of.dev || v[i].of.ino != v[first].of.ino) {
			first = i;
			continue;
		}
		rc = join(d, v[first].f, v[i].f);
		if (rc)
			leat_problem_add(d, 0,
					 "%s and %s are two names of one file (hard links), which "
					 "cannot be so on disk: %s; they are two files there",
					 v[first].f->name, v[i].f->name, strerror(-rc));
	}
	free(v);
}
