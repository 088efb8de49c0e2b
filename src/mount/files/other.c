/* Other users than the mount's. Where the subordinate ids of an ordinary user are mapped, programs
 * of a container may be such users, and the server has no right to act as one of them. They read
 * what they might read on a disk; a change is refused, and if they might have made it there the
 * step cannot end well. */
#include "mount/files/other.h"
#include "mount/callers/caller.h"
#include "mount/guard/bypass.h"
#include "mount/names/node.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define OTHER_USER                                                                                 \
	"a file would be made, changed or given away by a user that the workflow's own cannot "    \
	"act as: let the container's programs be that user (root, or --userns=keep-id), or give "  \
	"the step `staged: true`"

/* Would the mode of a file let the caller do that, whatever the directories above it say? */
static bool might(const struct leat_mount_call *call, const struct stat *st, mode_t bit)
{
	if (call->gid == call->m->shown_gid && st->st_gid == getegid())
		bit |= bit << 3;
	return (st->st_mode & bit) || leat_caller_overrides(call->tid);
}

/* The store's own directory is nobody else's: a directory's mode is that on disk, if it is there.
 */
static int stat_node(const struct leat_mount_call *call, fuse_ino_t ino, struct stat *st)
{
	const struct leat_mount *m = call->m;
	char path[PATH_MAX];
	int rc = leat_node_path(call->m, ino, NULL, path);
	const char *name = *path ? path : ".";

	if (rc)
		return rc;
	if (fstatat(m->dir_fd, name, st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st->st_mode))
		return 0;
	if (fstatat(m->store_fd, name, st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return fstatat(m->dir_fd, name, st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int leat_other_access(const struct leat_mount_call *call, const struct stat *st, int mask)
{
	if (!call->other)
		return 0;
	if ((mask & R_OK && !might(call, st, S_IROTH)) || mask & W_OK ||
	    (mask & X_OK && !might(call, st, S_IXOTH)))
		return -EACCES;
	return 0;
}

int leat_other_change(const struct leat_mount_call *call, fuse_ino_t ino)
{
	struct stat st;

	if (!call->other)
		return 0;
	if (stat_node(call, ino, &st) == 0 && might(call, &st, S_IWOTH))
		leat_bypass_fail(call->m, call->tid, OTHER_USER);
	return -EACCES;
}

int leat_other_owner(const struct leat_mount_call *call, uid_t *uid, gid_t *gid)
{
	const struct leat_mount *m = call->m;

	if (!m->spec->ranged)
		return 0;
	if ((*uid != (uid_t)-1 && *uid != m->shown_uid) ||
	    (*gid != (gid_t)-1 && *gid != m->shown_gid)) {
		leat_bypass_fail(call->m, call->tid, OTHER_USER);
		return -EPERM;
	}
	if (*uid != (uid_t)-1)
		*uid = geteuid();
	if (*gid != (gid_t)-1)
		*gid = getegid();
	return 0;
}
