#include "store/list.h"

#include "base/beneath.h"
#include "base/str.h"
#include "store/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

struct seen {
	UT_hash_handle hh;
	char *name; /* borrowed from the listing's entry */
};

int leat_listing_add(struct leat_listing *l, uint64_t ino, unsigned char type, const char *name)
{
	struct leat_store_entry *e;

	if (l->n == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 16;
		struct leat_store_entry *v = realloc(l->v, capacity * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->capacity = capacity;
	}
	e = &l->v[l->n];
	*e = (struct leat_store_entry){.ino = ino, .type = type, .name = strdup(name)};
	if (!e->name)
		return -ENOMEM;
	l->n++;
	return 0;
}

void leat_listing_release(struct leat_listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	*l = (struct leat_listing){0};
}

/* Adds what is not there yet; the first place read decides. */
static int add_unseen(struct leat_listing *l, struct seen **seen, const struct dirent *e)
{
	struct seen *s;
	int rc;

	HASH_FIND_STR(*seen, e->d_name, s);
	if (s || leat_is_temporary_name(e->d_name))
		return 0;
	rc = leat_listing_add(l, e->d_ino, e->d_type, e->d_name);
	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->name = l->v[l->n - 1].name;
	HASH_ADD_KEYPTR(hh, *seen, s->name, strlen(s->name), s);
	return 0;
}

static int read_root(int dirfd, const char *path, struct leat_listing *l, struct seen **seen)
{
	struct dirent *e;
	int rc = 0;
	int fd = leat_beneath_open(dirfd, path, O_RDONLY | O_DIRECTORY, 0);
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while (!rc && (errno = 0, e = readdir(dir)))
		rc = add_unseen(l, seen, e);
	if (!rc)
		rc = -errno;
	closedir(dir);
	return rc;
}

int leat_tree_list(struct leat_tree *t, const char *path, struct leat_listing *l)
{
	struct seen *seen = NULL, *s, *next;
	int store, disk, spill = 0;

	store = read_root(leat_tree_fd(t, LEAT_ROOT_STORE), path, l, &seen);
	if (leat_tree_fd(t, LEAT_ROOT_SPILL) >= 0)
		spill = read_root(leat_tree_fd(t, LEAT_ROOT_SPILL), path, l, &seen);
	disk = read_root(leat_tree_fd(t, LEAT_ROOT_DISK), path, l, &seen);
	HASH_ITER(hh, seen, s, next)
	{
		HASH_DEL(seen, s);
		free(s);
	}
	/* One place is enough; another error than absence is one. */
	if (store && store != -ENOENT && store != -ENOTDIR)
		return store;
	if (spill && spill != -ENOENT && spill != -ENOTDIR)
		return spill;
	return disk && (store || disk != -ENOENT) ? disk : 0;
}
