#include "daemon/core/user.h"

#include "base/acting.h"
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct leat_user {
	uid_t uid;
	gid_t gid;
	size_t n; /* groups */
	gid_t groups[];
};

/* The socket's directory is shut for others: whoever comes through it was handed the way by a
 * process of root's run. */
int leat_user_of(int fd, pid_t *pid, struct leat_user **user)
{
	struct ucred peer;
	struct leat_user *u;
	socklen_t size = sizeof(peer), groups = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	*pid = peer.pid;
	*user = NULL;
	if (peer.uid == geteuid() || peer.uid == 0)
		return 0;
	if (geteuid() != 0)
		return -EPERM;
	/* Before Linux 5.8 it cannot be asked what they may. */
	if (!leat_beneath_checks_rights())
		return -ENOSYS;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &groups) < 0 && errno != ERANGE)
		return -errno;
	u = calloc(1, sizeof(*u) + groups);
	if (!u)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, u->groups, &groups) < 0) {
		free(u);
		return -errno;
	}
	u->uid = peer.uid;
	u->gid = peer.gid;
	u->n = groups / sizeof(gid_t);
	*user = u;
	return 0;
}

struct leat_user *leat_user_copy(const struct leat_user *user)
{
	size_t size = user ? sizeof(*user) + user->n * sizeof(gid_t) : 0;
	struct leat_user *copy = user ? malloc(size) : NULL;

	if (copy)
		memcpy(copy, user, size);
	return copy;
}

uid_t leat_user_id(const struct leat_user *user)
{
	return user ? user->uid : geteuid();
}

/* ---- calls as the user; NULL: as ourselves ---- */

static int become(const struct leat_user *user, struct leat_acting *own)
{
	const struct leat_ids as =
		user ? (struct leat_ids){user->uid, user->gid, user->groups, user->n}
		     : (struct leat_ids){0};

	return user ? leat_acting_begin(&as, false, own) : 0;
}

static int back(const struct leat_user *user, struct leat_acting *own, int rc)
{
	if (user)
		leat_acting_end(own);
	return rc;
}

int leat_user_find(const struct leat_user *user, struct leat_tree *t, const char *path,
		   enum leat_find how, struct leat_found *found)
{
	enum leat_root root;
	struct leat_acting own;
	int rc = become(user, &own);

	if (!rc)
		rc = back(user, &own, leat_tree_find(t, path, how, found));
	/* What was spilled lies where only the daemon looks. */
	if (!rc && user && found->root == LEAT_ROOT_NONE && !found->outside &&
	    !found->parent_missing && leat_tree_has_ours(t, found->path, &root, &found->st))
		found->root = root;
	return rc;
}

int leat_user_hold(const struct leat_user *user, int top, const char *path)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, leat_beneath_open(top, path, O_PATH, 0));
}

int leat_user_unlink(const struct leat_user *user, int top, const char *path, int flags)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, leat_beneath_unlink(top, path, flags));
}

int leat_user_rename(const struct leat_user *user, int from_top, const char *from, int to_top,
		     const char *to, unsigned flags)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, leat_beneath_rename(from_top, from, to_top, to, flags));
}

int leat_user_link(const struct leat_user *user, int from_top, const char *from, int to_top,
		   const char *to)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, leat_beneath_link(from_top, from, to_top, to));
}

int leat_user_stat(const struct leat_user *user, int top, const char *path, struct stat *st)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, leat_beneath_stat(top, path, st));
}

int leat_user_access(const struct leat_user *user, int top, const char *path, int mode)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, leat_beneath_access(top, path, mode));
}

int leat_user_do(const struct leat_user *user, int (*call)(void *ctx), void *ctx)
{
	struct leat_acting own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, call(ctx));
}

static void put_parent(char dir[PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(dir, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 0, path);
}

int leat_user_may_make_in(const struct leat_user *user, struct leat_tree *t, enum leat_root root,
			  const char *path)
{
	char dir[PATH_MAX];

	if (!user && !geteuid())
		return 0;
	put_parent(dir, path);
	return leat_user_access(user, leat_tree_fd(t, root), dir, W_OK | X_OK);
}

int leat_user_may_make(const struct leat_user *user, struct leat_tree *t, const char *path)
{
	char dir[PATH_MAX];
	enum leat_root root;
	int rc;

	if (!user && !geteuid())
		return 0;
	put_parent(dir, path);
	rc = leat_tree_look(t, dir, &root, NULL);
	return rc ? rc : leat_user_may_make_in(user, t, root, path);
}
