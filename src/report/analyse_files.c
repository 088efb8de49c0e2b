/* Finding files, by handle, inode or name; folding those that have no space. */
#include "report/analyse_internal.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

/* A name of a call, as it is outside of containers. */
struct named {
	const char *path; /* NULL: it has none */
	uint64_t inode; /* of what is only in a container, where others may be called so; else 0 */
};

static struct named named_of(const char *path, const char *outside, uint64_t inode)
{
	bool alone = outside && *outside != '/';

	return (struct named){leat_trace_name(path, outside), alone ? inode : 0};
}

/* Paths of shared file systems are the same on all nodes. */
static char *path_key(unsigned node, bool shared, const struct named *n)
{
	if (n->inode)
		return leat_strf("%u#%" PRIu64 "%s", node, n->inode, n->path);
	return shared ? leat_strf("*%s", n->path) : leat_strf("%u%s", node, n->path);
}

/* A trace does not tell of what kind a file is. */
static bool is_device(const char *path)
{
	return path && leat_path_is_below(path, "/dev") && !leat_path_is_below(path, "/dev/shm") &&
	       !leat_path_is_below(path, "/dev/hugepages");
}

static int make_file(struct leat_analysis *a, unsigned node, const char *path, bool folded,
		     uint32_t *file)
{
	struct leat_report_file *f;
	uint32_t system;
	bool shared;
	int error = leat_analysis_find_system(a, node, path, &system, &shared);

	if (!error)
		error = leat_analysis_grow(&a->files, a->n_files, &a->tables->file_capacity,
					   sizeof(*a->files));
	if (error)
		return error;
	f = &a->files[a->n_files];
	*f = (struct leat_report_file){.node = node,
				       .system = system,
				       .shared = shared,
				       .folded = folded,
				       .device = is_device(path)};
	if (path) {
		f->path = strdup(path);
		if (!f->path)
			return -ENOMEM;
	}
	*file = a->n_files++;
	return 0;
}

/* What stands for the files of a directory when there are too many files; so do few, and what
 * stands for all when there are too many directories. */
static int fold(struct leat_analysis *a, unsigned node, const char *path, uint32_t *file)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
	char *key = dir ? path_key(node, false, &(struct named){dir, 0}) : NULL;
	int error = 0;

	a->gaps.folded_files++;
	*file = key ? leat_table_find(&a->tables->paths, key, strlen(key)) : 0;
	if (*file == LEAT_TABLE_NONE) {
		*file = 0;
		if (a->n_files < a->limits.files + a->limits.files / 8) {
			error = make_file(a, node, dir, true, file);
			if (!error)
				error = leat_table_put(&a->tables->paths, key, strlen(key), *file);
		}
	}
	free(key);
	free(dir);
	return error;
}

/* The file of a path, or a new one. */
static int find_by_path(struct leat_analysis *a, unsigned node, const struct named *n,
			uint32_t *file)
{
	const char *path = n->path;
	uint32_t system;
	bool shared;
	char *key;
	int error = leat_analysis_find_system(a, node, path, &system, &shared);

	if (error)
		return error;
	key = path_key(node, shared, n);
	if (!key)
		return -ENOMEM;
	*file = leat_table_find(&a->tables->paths, key, strlen(key));
	if (*file == LEAT_TABLE_NONE) {
		if (a->n_files >= a->limits.files) {
			error = fold(a, node, path, file);
		} else {
			error = make_file(a, node, path, false, file);
			if (!error)
				error = leat_table_put(&a->tables->paths, key, strlen(key), *file);
		}
	}
	free(key);
	return error;
}

static int find_by_inode(struct leat_analysis *a, unsigned node, uint64_t inode,
			 const struct named *n, uint32_t *file)
{
	struct leat_number_key key = {inode, node};
	int error = 0;

	*file = inode ? leat_table_find(&a->tables->inodes, &key, sizeof(key)) : LEAT_TABLE_NONE;
	if (*file != LEAT_TABLE_NONE)
		return 0;
	if (n->path)
		error = find_by_path(a, node, n, file);
	else if (a->n_files >= a->limits.files)
		error = fold(a, node, NULL, file);
	else
		error = make_file(a, node, NULL, false, file);
	if (!error && inode && !a->files[*file].folded)
		error = leat_table_put(&a->tables->inodes, &key, sizeof(key), *file);
	return error;
}

static int set_inside(struct leat_report_file *f, const char *path)
{
	if (f->inside || f->folded || !path)
		return 0;
	f->inside = strdup(path);
	return f->inside ? 0 : -ENOMEM;
}

int leat_analysis_find_file(struct leat_analysis *a, unsigned node, const struct leat_trace_call *c,
			    uint32_t *file, struct leat_report_handle **handle)
{
	struct leat_number_key key = {c->handle, node};
	struct named name = named_of(c->path, c->outside, c->inode);
	bool opens = c->type == LEAT_TRACE_OPEN || c->type == LEAT_TRACE_CREATE;
	uint32_t number;
	int error;

	*handle = NULL;
	number = c->handle && !opens ? leat_table_find(&a->tables->handles, &key, sizeof(key))
				     : LEAT_TABLE_NONE;
	if (number != LEAT_TABLE_NONE) {
		*handle = &a->tables->handle[number];
		*file = (*handle)->file;
		return 0;
	}
	error = find_by_inode(a, node, c->inode, &name, file);
	if (!error && c->outside)
		error = set_inside(&a->files[*file], c->path);
	if (error || !c->handle || c->type == LEAT_TRACE_CLOSE)
		return error;
	if (opens)
		leat_analysis_close(a, node, c->handle);
	else
		a->gaps.nameless++;
	error = leat_analysis_make_handle(a, &key, *file, handle);
	if (!error)
		(*handle)->placed = opens && !(c->flags & O_APPEND);
	return error;
}

/* ---- names ---- */

static uint32_t file_of_path(struct leat_analysis *a, unsigned node, const struct named *n,
			     char **key)
{
	uint32_t system;
	bool shared;

	*key = NULL;
	if (!n->path || leat_analysis_find_system(a, node, n->path, &system, &shared))
		return LEAT_TABLE_NONE;
	*key = path_key(node, shared, n);
	return *key ? leat_table_find(&a->tables->paths, *key, strlen(*key)) : LEAT_TABLE_NONE;
}

int leat_analysis_unlink(struct leat_analysis *a, unsigned node, const struct leat_trace_call *c)
{
	struct leat_number_key inode = {c->inode, node};
	char *key;
	struct named name = named_of(c->path, c->outside, c->inode);
	uint32_t file = file_of_path(a, node, &name, &key);

	/* Whoever makes it anew makes the same file, for a person; its path stays known. */
	if (file != LEAT_TABLE_NONE)
		a->files[file].removed = true;
	leat_table_remove(&a->tables->inodes, &inode, sizeof(inode));
	free(key);
	return 0;
}

int leat_analysis_rename(struct leat_analysis *a, unsigned node, const struct leat_trace_call *c)
{
	struct named was = named_of(c->path, c->outside, c->inode);
	struct named is = named_of(c->to, c->to_outside, c->inode);
	char *from, *to, *path;
	uint32_t file = file_of_path(a, node, &was, &from);
	uint32_t target = file_of_path(a, node, &is, &to);
	int error = 0;

	if (file == LEAT_TABLE_NONE || !to || file == target || a->files[file].folded)
		goto out;
	path = strdup(is.path);
	error = path ? leat_table_put(&a->tables->paths, to, strlen(to), file) : -ENOMEM;
	if (error) {
		free(path);
		goto out;
	}
	if (target != LEAT_TABLE_NONE)
		a->files[target].replaced = true;
	leat_table_remove(&a->tables->paths, from, strlen(from));
	free(a->files[file].path);
	a->files[file].path = path;
	free(a->files[file].inside);
	a->files[file].inside = NULL;
	if (c->to_outside)
		error = set_inside(&a->files[file], c->to);
out:
	free(from);
	free(to);
	return error;
}
