/* Who may use a file: what requests change of it. */
#include "mount/files/rights.h"
#include "mount/daemon/ask.h"

#include "base/acl.h"

#include <errno.h>
#include <string.h>

struct leat_msg_resolve leat_rights_of(const struct stat *st, int what)
{
	struct leat_msg_resolve m = {.op = LEAT_OP_META, .uid = UINT32_MAX, .gid = UINT32_MAX};

	if (what & FUSE_SET_ATTR_MODE) {
		m.rights = LEAT_META_MODE;
		m.mode = st->st_mode & 07777;
	}
	if (what & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		m.rights |= LEAT_META_OWNER;
	if (what & FUSE_SET_ATTR_UID)
		m.uid = st->st_uid;
	if (what & FUSE_SET_ATTR_GID)
		m.gid = st->st_gid;
	return m;
}

struct leat_msg_resolve leat_rights_of_attribute(const char *name, const char *value, size_t size)
{
	struct leat_msg_resolve m = {.op = LEAT_OP_META};
	int mode;

	if (strcmp(name, LEAT_ACL_NAME) != 0)
		return m;
	m.rights = LEAT_META_LIST;
	mode = leat_acl_mode(value, size);
	if (mode >= 0) {
		m.rights |= LEAT_META_MODE;
		m.mode = (uint32_t)mode;
	}
	return m;
}

/* Before its commit nobody can have gone by them. */
static bool is_committed(struct leat_mount_call *call, uint32_t slot)
{
	struct leat_shm_file *f = slot ? leat_mount_file(call, slot) : NULL;

	return f && leat_shm_flags(f) & LEAT_SHM_COMMITTED;
}

int leat_rights_may_change(struct leat_mount_call *call, fuse_ino_t ino, uint32_t slot,
			   const struct leat_msg_resolve *rights)
{
	bool counts = rights->rights && is_committed(call, slot);
	struct leat_mount_location location;
	int rc;

	if (!call->m->shm->enforced && !counts)
		return 0;
	rc = leat_mount_resolve_node(call, ino, rights, &location);
	return rc == -EACCES || (counts && rc == -EIO) ? rc : 0;
}
