/* Versions of files that are of no more use, and those that are the last. */
#include "daemon/files/versions.h"

#include "base/str.h"
#include "daemon/core/problems.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/remove.h"
#include "daemon/files/states.h"
#include "model/version.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Those on disk that were only there for a version that had been adopted. */
static void forget_directories(struct leat_daemon *d, const char *name)
{
	char path[PATH_MAX], *slash;
	int rc;

	if (!leat_str_begins(name, LEAT_VERSIONS_DIR "/") || strlen(name) >= sizeof(path))
		return;
	strcpy(path, name);
	while ((slash = strrchr(path, '/'))) {
		*slash = 0;
		rc = leat_beneath_unlink(d->disk_fd, path, AT_REMOVEDIR);
		if (rc && rc != -ENOENT)
			break;
	}
	leat_tree_forget(d->tree);
}

void leat_versions_unwanted(struct leat_daemon *d, const char *name)
{
	struct leat_file *f = leat_file_find(d, name);

	if (!f)
		return;
	leat_descriptions_hold(d, f);
	leat_file_retire(d, f);
	leat_unlink_everywhere(d, NULL, name);
	forget_directories(d, name);
}

static int rename_last(struct leat_daemon *d, const char *name, enum leat_root root,
		       const char *base)
{
	int top = leat_tree_fd(d->tree, root), rc;
	struct leat_beneath to;

	rc = leat_tree_hold_parent(d->tree, root, base, &to);
	if (rc)
		return rc;
	rc = leat_beneath_rename(top, name, to.dir, to.name, 0);
	leat_beneath_release(&to);
	return rc;
}

static void take_name(struct leat_daemon *d, struct leat_file *f, const char *base)
{
	struct leat_file *first = leat_file_find(d, base);
	enum leat_root root;
	struct stat st;
	int rc = leat_tree_look(d->tree, f->name, &root, &st);

	if (!rc)
		rc = leat_tree_make_parents(d->tree, root, base);
	if (!rc)
		rc = rename_last(d, f->name, root, base);
	if (!rc && first)
		leat_file_retire(d, first);
	if (!rc)
		rc = leat_file_rename(d, f, base);
	if (rc)
		leat_problem_add(d, rc, "cannot bring the last version of %s to disk: %s", base,
				 strerror(-rc));
}

void leat_versions_finish(struct leat_daemon *d)
{
	struct leat_file *f, *next;
	uint64_t number;
	const char *base;

	HASH_ITER(hh, d->files->by_name, f, next)
	{
		base = leat_version_base(f->name, &number);
		if (number > 1 && f->rule->permanent && !f->retired &&
		    leat_stream_state(d->stream, f->name) == LEAT_FILE_COMMITTED)
			take_name(d, f, base);
	}
}
