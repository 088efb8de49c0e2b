/* Who may use a file: what requests change of it. */
#include "mount/files/rights.h"
#include "mount/daemon/ask.h"
#include "mount/names/node.h"

#include "base/acl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

struct leat_rights leat_rights_of(const struct stat *st, int what)
{
	struct leat_rights r = {0};
	uint32_t uid = what & FUSE_SET_ATTR_UID ? st->st_uid : UINT32_MAX;
	uint32_t gid = what & FUSE_SET_ATTR_GID ? st->st_gid : UINT32_MAX;

	if (what & FUSE_SET_ATTR_MODE)
		r.mode = LEAT_META_MODE | (st->st_mode & 07777);
	if (what & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		r.mode |= LEAT_META_OWNER;
	r.owner = (uint64_t)uid << 32 | gid;
	return r;
}

struct leat_rights leat_rights_of_attribute(const char *name, const char *value, size_t size)
{
	struct leat_rights r = {0};
	int mode;

	if (strcmp(name, LEAT_ACL_NAME) != 0)
		return r;
	mode = leat_acl_mode(value, size);
	r.mode = LEAT_META_LIST | (mode >= 0 ? LEAT_META_MODE | (uint32_t)mode : 0);
	return r;
}

/* Before its commit nobody can have gone by them. */
static bool is_committed(struct leat_mount_call *call, uint32_t slot)
{
	struct leat_shm_file *f = slot ? leat_mount_file(call, slot) : NULL;

	return f && leat_shm_flags(f) & LEAT_SHM_COMMITTED;
}

int leat_rights_may_change(struct leat_mount_call *call, fuse_ino_t ino, uint32_t slot,
			   const struct leat_rights *rights)
{
	bool counts = rights->mode && is_committed(call, slot);
	struct leat_mount_location location;
	char path[PATH_MAX];
	int rc;

	if (!call->m->shm->enforced && !counts)
		return 0;
	rc = leat_node_path(call->m, ino, NULL, path);
	if (!rc)
		rc = leat_mount_resolve(call, LEAT_OP_META, path, AT_SYMLINK_NOFOLLOW, rights->mode,
					rights->owner, &location);
	return rc == -EACCES || (counts && rc == -EIO) ? rc : 0;
}
