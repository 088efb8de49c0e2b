#include "preload/path/program.h"

#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/path/names.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "wire/wire.h"

#include <string.h>

/* Behind a mount there is one place: what is in the store, or on disk for lack of memory, is in the
 * workflow's directory. There it stays, too, when it is moved before the mount is made. */
static long translate(const char *name, char *out)
{
	const struct leat_server_info *w = leat_server_known();
	struct leat_text t = leat_text_in(out, PATH_MAX);
	const char *rest = NULL;

	if (w)
		rest = leat_text_below(name, w->exec_prefix, strlen(w->exec_prefix));
	if (!rest)
		rest = leat_path_of_name(name);
	if (rest) {
		leat_text_add(&t, leat_session.real);
		leat_text_add(&t, "/");
	}
	leat_text_add(&t, rest ? rest : name);
	return t.full ? -ENAMETOOLONG : 0;
}

long leat_exec_name(int dirfd, const char *path, int flags, char *out)
{
	char name[PATH_MAX];
	struct leat_text t;
	long rc;

	if (path[0] == '/' || (dirfd == AT_FDCWD && !(flags & AT_EMPTY_PATH)))
		return translate(path, out);
	rc = leat_fd_name(dirfd, name, sizeof(name));
	if (rc < 0)
		return rc;
	t = (struct leat_text){.at = name, .size = sizeof(name), .used = (size_t)rc};
	if (*path) {
		leat_text_add(&t, "/");
		leat_text_add(&t, path);
	}
	return t.full ? -ENAMETOOLONG : translate(name, out);
}

/* As the program names what the kernel finds at `path`; `buffer` has PATH_MAX bytes, or is NULL. */
static const char *own_name(const char *path, char *buffer)
{
	const struct leat_server_info *w = leat_server_known();

	if (!buffer || !w || !leat_text_below(path, w->mount, w->mount_length) ||
	    translate(path, buffer))
		return path;
	return buffer;
}

static enum leat_sight compare(long error_a, const struct stat *a, long error_b,
			       const struct stat *b)
{
	if (error_a && error_b)
		return LEAT_SIGHT_NOTHING;
	if (error_a || error_b || a->st_dev != b->st_dev || a->st_ino != b->st_ino)
		return LEAT_SIGHT_OTHER;
	return LEAT_SIGHT_SAME;
}

enum leat_sight leat_exec_look(const char *path, bool waits, char *buffer)
{
	struct leat_target target = {.op = LEAT_OP_EXEC,
				     .dirfd = AT_FDCWD,
				     .path = own_name(path, buffer),
				     .no_wait = !waits};
	struct stat theirs, ours;
	struct leat_resolved resolved;
	long error, rc = leat_resolve(&resolved, &target);

	if (rc == LEAT_OUTSIDE && leat_path_dangles(AT_FDCWD, target.path)) {
		target.follow = true;
		rc = leat_resolve(&resolved, &target);
	}
	error = raw(SYS_newfstatat, AT_FDCWD, path, &theirs, 0);
	if (rc == LEAT_OUTSIDE)
		return error ? LEAT_SIGHT_NOTHING : LEAT_SIGHT_SAME;
	if (!rc) {
		rc = raw(SYS_newfstatat, resolved.dirfd, resolved.path, &ours, 0);
		leat_resolved_leave(&resolved);
	}
	return compare(rc, &ours, error, &theirs);
}

bool leat_exec_is_inside(const char *path, char *buffer)
{
	const char *name = own_name(path, buffer);
	struct leat_guard g;
	int found;

	if (name != path)
		return true;
	if (!leat_path_maybe(AT_FDCWD, path) || leat_guard_acquire(&g))
		return false;
	found = leat_path_find(g.t, AT_FDCWD, path, g.t->below[0]);
	leat_guard_release(&g);
	return found > 0;
}
