/* Calls that start and end programs, and ways around the hooks that are shut. */
#include "preload/fdtab.h"
#include "preload/handlers.h"
#include "preload/hooks.h"
#include "preload/roll_call.h"
#include "preload/text.h"
#include "preload/user.h"
#include "shm/word.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

/* The program's path as the kernel can run it; a script's interpreter is given
 * it, too, and opens it anew. */
static int path_to_run(struct leat_site *site, char out[PATH_MAX])
{
	const struct leat_world *w = leat_client_known();
	struct leat_text t = leat_text_in(out, PATH_MAX);
	char self[LEAT_FD_PATH];

	/* Nobody but ourselves may look through the daemon's descriptors then. */
	if (site->place == LEAT_PLACE_STORE && (leat_user_is_other() || w->shm->enforced)) {
		int fd = leat_user_store_for_exec(w->store_fd);

		if (fd < 0)
			return fd;
		leat_fd_path(fd, self);
		leat_text_add(&t, self);
	} else if (site->place == LEAT_PLACE_STORE)
		leat_text_add(&t, w->exec_prefix);
	else if (site->dirfd != AT_FDCWD && site->path[0] != '/')
		leat_text_add(&t, leat_session.real);
	if (t.used)
		leat_text_add(&t, "/");
	leat_text_add(&t, site->path);
	return t.full ? -ENAMETOOLONG : 0;
}

static long run_where_it_is(int dirfd, const char *path, char *const *argv, char *const *envp,
			    int flags)
{
	struct leat_target target = {.op = LEAT_OP_EXEC,
				     .dirfd = dirfd,
				     .path = path,
				     .flags = (unsigned)flags & AT_SYMLINK_NOFOLLOW};
	struct leat_site site;
	char inside[PATH_MAX];
	long failed, rc = leat_site_enter(&site, &target);

	if (rc == LEAT_OUTSIDE) {
		failed = leat_exec(dirfd, path, argv, envp, flags);
		if (failed != -ENOENT || !leat_path_dangles(dirfd, path))
			return failed;
		target.follow = true;
		rc = leat_site_enter(&site, &target);
		if (rc == LEAT_OUTSIDE)
			return failed;
	}
	if (rc)
		return rc;
	rc = path_to_run(&site, inside);
	leat_site_leave(&site); /* the new program is not to start with signals blocked */
	return rc ? rc : leat_exec(AT_FDCWD, inside, argv, envp, flags);
}

static long run(int dirfd, const char *path, char *const *argv, char *const *envp, int flags)
{
	long failed;

	leat_user_exec_begin();
	failed = run_where_it_is(dirfd, path, argv, envp, flags);
	leat_user_exec_failed();
	return failed;
}

long leat_hook_execve(const struct leat_syscall *c)
{
	return run(AT_FDCWD, (const char *)c->a[0], (char *const *)c->a[1], (char *const *)c->a[2],
		   0);
}

long leat_hook_execveat(const struct leat_syscall *c)
{
	return run((int)c->a[0], (const char *)c->a[1], (char *const *)c->a[2],
		   (char *const *)c->a[3], (int)c->a[4]);
}

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
