/* Calls that start and end programs, and ways around the hooks that are shut. */
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/paths.h"
#include "preload/connection/roll_call.h"
#include "preload/core/text.h"
#include "preload/connection/user.h"
#include "shm/word.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

/* Behind a mount there are no two places: what is in the store is in the workflow's
 * directory. */
static long translate(const char *name, char *out)
{
	const struct leat_world *w = leat_client_known();
	struct leat_text t = leat_text_in(out, PATH_MAX);
	const char *rest = NULL;

	if (w)
		rest = leat_text_below(name, w->exec_prefix, strlen(w->exec_prefix));
	if (w && !rest)
		rest = leat_text_below(name, w->mount, w->mount_length);
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

/* As the program names what the kernel finds at `path`; `room` has PATH_MAX bytes, or is NULL. */
static const char *own_name(const char *path, char *room)
{
	const struct leat_world *w = leat_client_known();

	if (!room || !w || !leat_text_below(path, w->mount, w->mount_length) ||
	    translate(path, room))
		return path;
	return room;
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

enum leat_sight leat_exec_look(const char *path, bool waits, char *room)
{
	struct leat_target target = {.op = LEAT_OP_EXEC,
				     .dirfd = AT_FDCWD,
				     .path = own_name(path, room),
				     .mode = waits ? 0 : LEAT_EXEC_NOW};
	struct stat theirs, ours;
	struct leat_site site;
	long error, rc = leat_site_enter(&site, &target);

	if (rc == LEAT_OUTSIDE && leat_path_dangles(AT_FDCWD, target.path)) {
		target.follow = true;
		rc = leat_site_enter(&site, &target);
	}
	error = raw(SYS_newfstatat, AT_FDCWD, path, &theirs, 0);
	if (rc == LEAT_OUTSIDE)
		return error ? LEAT_SIGHT_NOTHING : LEAT_SIGHT_SAME;
	if (!rc) {
		rc = raw(SYS_newfstatat, site.dirfd, site.path, &ours, 0);
		leat_site_leave(&site);
	}
	return compare(rc, &ours, error, &theirs);
}

bool leat_exec_is_inside(const char *path, char *room)
{
	const char *name = own_name(path, room);
	struct leat_guard g;
	int found;

	if (name != path)
		return true;
	if (!leat_path_maybe(AT_FDCWD, path) || leat_guard_take(&g))
		return false;
	found = leat_path_find(g.t, AT_FDCWD, path, g.t->below[0]);
	leat_guard_release(&g);
	return found > 0;
}

bool leat_exec_in_sight(void)
{
	struct stat st;

	if (!leat_session.is_run || leat_user_is_other())
		return true;
	return leat_session_is_there() &&
	       raw(SYS_newfstatat, AT_FDCWD, leat_session.socket, &st, 0) != -ENOENT;
}

void leat_exec_refused(const char *program, const char *why, bool fatal)
{
	struct leat_guard g;

	if (leat_guard_take(&g))
		return;
	if (!leat_client_begin(g.t, LEAT_MSG_REFUSED)) {
		struct leat_text t = leat_text_in(g.t->name, sizeof(g.t->name));

		leat_text_add(&t, program);
		leat_text_add(&t, ": ");
		leat_text_add(&t, why);
		((struct leat_msg_text *)g.t->msg)->error = fatal ? -EIO : 0;
		if (!leat_wire_put(g.t->msg, g.t->name))
			leat_client_send(g.t);
	}
	leat_guard_release(&g);
}

long leat_hook_exit_group(const struct leat_syscall *c)
{
	if (!leat_in_vfork()) {
		leat_fd_exiting();
		leat_client_exiting((int)c->a[0]);
		leat_roll_call_exit();
	}
	return leat_as_is(c);
}

static struct leat_word confined; /* 1: since another call of this kind */

bool leat_exec_confined(void)
{
	return leat_word_get(&confined) != 0;
}

/* What this process has now stays good, and the programs it starts are judged by it. */
void leat_confine(void)
{
	struct leat_guard g;

	leat_word_set(&confined, 1);
	if (leat_guard_take(&g))
		return;
	leat_client_begin(g.t, LEAT_MSG_STATUS); /* connects; it is not sent */
	leat_guard_release(&g);
}

/* From here on there may be no way to the daemon. */
long leat_hook_confine(const struct leat_syscall *c)
{
	if (!leat_in_vfork() && (c->nr != SYS_prctl || c->a[0] == PR_SET_SECCOMP))
		leat_confine();
	return LEAT_PASS;
}

/* io_uring and kernel AIO would read and write unseen; programs do without. */
long leat_hook_no_such_call(const struct leat_syscall *c)
{
	(void)c;
	return -ENOSYS;
}
