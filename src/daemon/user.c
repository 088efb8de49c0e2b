#include "daemon/user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* ---- this thread as another user; glibc's setgroups would take all threads along ---- */

struct own {
	gid_t *groups; /* owned */
	int n;
	int dumpable;
	int death_signal;
};

static void end(const struct own *own)
{
	setfsuid(geteuid());
	setfsgid(getegid());
	syscall(SYS_setgroups, own->n, own->groups);
	/* The kernel takes these back from whoever changes its user. */
	prctl(PR_SET_DUMPABLE, own->dumpable);
	prctl(PR_SET_PDEATHSIG, own->death_signal);
	free(own->groups);
}

static int begin(const struct leat_user *u, struct own *own)
{
	*own = (struct own){.n = getgroups(0, NULL), .dumpable = prctl(PR_GET_DUMPABLE)};
	prctl(PR_GET_PDEATHSIG, &own->death_signal);
	own->groups = calloc((size_t)(own->n > 0 ? own->n : 1), sizeof(gid_t));
	if (!own->groups)
		return -ENOMEM;
	own->n = getgroups(own->n, own->groups);
	if (own->n < 0 || syscall(SYS_setgroups, u->n, u->groups) < 0) {
		free(own->groups);
		return -EPERM;
	}
	setfsgid(u->gid);
	setfsuid(u->uid);
	if ((uid_t)setfsuid((uid_t)-1) == u->uid && (gid_t)setfsgid((gid_t)-1) == u->gid)
		return 0;
	end(own);
	return -EPERM;
}

/* Before and after a call made as `user`; NULL: as ourselves. The rc of the latter is the call's.
 */
static int become(const struct leat_user *user, struct own *own)
{
	return user ? begin(user, own) : 0;
}

static int back(const struct leat_user *user, struct own *own, int rc)
{
	if (user)
		end(own);
	return rc;
}

static int told(int rc)
{
	return rc < 0 ? -errno : 0;
}

int leat_user_find(const struct leat_user *user, struct leat_tree *t, const char *path,
		   enum leat_find how, struct leat_found *found)
{
	enum leat_root root;
	struct own own;
	int rc = become(user, &own);

	if (!rc)
		rc = back(user, &own, leat_tree_find(t, path, how, found));
	/* What was spilled lies where only the daemon looks. */
	if (!rc && user && found->root == LEAT_ROOT_NONE && !found->outside &&
	    !found->parent_missing && leat_tree_has_ours(t, found->path, &root, &found->st))
		found->root = root;
	return rc;
}

int leat_user_unlink(const struct leat_user *user, int dirfd, const char *path, int flags)
{
	struct own own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, told(unlinkat(dirfd, path, flags)));
}

int leat_user_rename(const struct leat_user *user, int from_fd, const char *from, int to_fd,
		     const char *to, unsigned flags)
{
	struct own own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, told(renameat2(from_fd, from, to_fd, to, flags)));
}

int leat_user_link(const struct leat_user *user, int from_fd, const char *from, int to_fd,
		   const char *to)
{
	struct own own;
	int rc = become(user, &own);

	return rc ? rc : back(user, &own, told(linkat(from_fd, from, to_fd, to, 0)));
}

int leat_user_access(const struct leat_user *user, int dirfd, const char *path, int mode)
{
	struct own own;
	int rc = become(user, &own);

	return rc ? rc
		  : back(user, &own, told(faccessat(dirfd, *path ? path : ".", mode, AT_EACCESS)));
}

int leat_user_may_make(const struct leat_user *user, struct leat_tree *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	enum leat_root root;
	int rc;

	if (!user && !geteuid())
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 0, path);
	rc = leat_tree_look(t, dir, &root, NULL);
	return rc ? rc : leat_user_access(user, leat_tree_fd(t, root), dir, W_OK | X_OK);
}
