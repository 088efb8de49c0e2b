/* The two halves of a directory, in the store and on disk, have the same owner, mode, times and
 * attributes: the program has changed one of them, the other follows. One after the other here, so
 * that two programs at the same time leave them alike. */
#include "daemon/ops/alike.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/timespec.h"
#include "daemon/core/connections.h"
#include "daemon/core/user.h"
#include "daemon/ops/dir_looks.h"
#include "store/attributes.h"

#include <errno.h>
#include <fcntl.h>

struct halves {
	int from, to;
	struct stat like, now;
};

static bool are_times_same(const struct halves *h)
{
	return leat_timespec_is_same(h->like.st_mtim, h->now.st_mtim) &&
	       leat_timespec_is_same(h->like.st_atim, h->now.st_atim);
}

/* Both are there, and are directories: 1, else 0; -errno. */
static int hold(struct leat_daemon *d, enum leat_root from, const char *path, struct halves *h)
{
	enum leat_root to = from == LEAT_ROOT_STORE ? LEAT_ROOT_DISK : LEAT_ROOT_STORE;

	h->from = leat_beneath_open(leat_tree_fd(d->tree, from), path, O_PATH | O_DIRECTORY, 0);
	h->to = leat_beneath_open(leat_tree_fd(d->tree, to), path, O_PATH | O_DIRECTORY, 0);
	if (h->from == -EACCES || h->to == -EACCES)
		return -EACCES;
	if (h->from < 0 || h->to < 0)
		return 0;
	return fstat(h->from, &h->like) < 0 || fstat(h->to, &h->now) < 0 ? -errno : 1;
}

/* Who is not its owner may only have set them to now. */
static int set_times(const struct halves *h)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
	const struct timespec like[2] = {h->like.st_atim, h->like.st_mtim};
	int rc = leat_beneath_set_times(h->to, like);

	return rc == -EPERM ? leat_beneath_set_times(h->to, now) : rc;
}

static int set(struct halves *h, unsigned flags)
{
	int rc = 0;

	if (h->like.st_uid != h->now.st_uid || h->like.st_gid != h->now.st_gid)
		rc = leat_beneath_chown(h->to, h->like.st_uid, h->like.st_gid);
	if (!rc)
		rc = leat_copy_attributes(h->from, h->to, flags & LEAT_ALIKE_ATTRIBUTES);
	/* A change of the owner takes bits away. */
	if (!rc && fstat(h->to, &h->now) < 0)
		rc = -errno;
	if (!rc && (h->like.st_mode & 07777) != (h->now.st_mode & 07777))
		rc = leat_beneath_chmod(h->to, h->like.st_mode & 07777);
	return !rc && flags & LEAT_ALIKE_TIMES && !are_times_same(h) ? set_times(h) : rc;
}

static int make_alike(struct leat_daemon *d, const char *path, unsigned flags)
{
	enum leat_root from = flags & LEAT_ALIKE_FROM_STORE ? LEAT_ROOT_STORE : LEAT_ROOT_DISK;
	struct halves h;
	int rc = hold(d, from, path, &h);

	if (rc > 0)
		rc = set(&h, flags);
	if (h.from >= 0)
		leat_close(&h.from);
	if (h.to >= 0)
		leat_close(&h.to);
	return rc;
}

struct request {
	struct leat_daemon *d;
	const char *path;
	unsigned flags;
};

static int as_user(void *ctx)
{
	const struct request *r = ctx;

	return make_alike(r->d, r->path, r->flags);
}

int leat_change_alike(struct leat_conn *c, const char *path, unsigned flags)
{
	struct request r = {c->d, path, flags};
	enum leat_root from = flags & LEAT_ALIKE_FROM_STORE ? LEAT_ROOT_STORE : LEAT_ROOT_DISK;

	if (flags & LEAT_ALIKE_TIMES)
		leat_dir_looks_check(c->d, c->step, from, path);

	/* The top of a store in /dev/shm stays shut. */
	if (!*path && leat_store_is_private(c->d->store))
		return 0;
	return leat_user_do(c->user, as_user, &r);
}
