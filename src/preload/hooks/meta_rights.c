#include "preload/hooks/meta_rights.h"

#include "base/acl.h"
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/table.h"
#include "preload/path/names.h"
#include "preload/path/resolve.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static void of_mode(struct leat_target *t, long mode)
{
	t->rights = LEAT_META_MODE;
	t->mode = (uint32_t)mode & 07777;
}

static void of_owner(struct leat_target *t, long uid, long gid)
{
	t->rights = LEAT_META_OWNER;
	t->uid = (uint32_t)uid;
	t->gid = (uint32_t)gid;
}

static void of_attribute(struct leat_target *t, const char *name, const void *value, size_t size)
{
	int mode;

	if (!name || strcmp(name, LEAT_ACL_NAME) != 0)
		return;
	mode = leat_acl_mode(value, size);
	if (mode >= 0)
		of_mode(t, mode);
	t->rights |= LEAT_META_LIST;
}

void leat_rights_of(const struct leat_syscall *c, struct leat_target *target)
{
	switch (c->nr) {
	case SYS_fchmod:
		of_mode(target, c->a[1]);
		break;
#ifdef SYS_chmod
	case SYS_chmod:
		of_mode(target, c->a[1]);
		break;
	case SYS_chown:
	case SYS_lchown:
#endif
	case SYS_fchown:
		of_owner(target, c->a[1], c->a[2]);
		break;
	case SYS_fchmodat:
	case SYS_fchmodat2:
		of_mode(target, c->a[2]);
		break;
	case SYS_fchownat:
		of_owner(target, c->a[2], c->a[3]);
		break;
	case SYS_setxattr:
	case SYS_lsetxattr:
	case SYS_fsetxattr:
		of_attribute(target, (const char *)c->a[1], (const void *)c->a[2], (size_t)c->a[3]);
		break;
	case SYS_removexattr:
	case SYS_lremovexattr:
	case SYS_fremovexattr:
		of_attribute(target, (const char *)c->a[1], NULL, 0);
		break;
	}
}

/* Before its commit nobody can have gone by them. */
static bool is_committed(int fd)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r && r->slot ? leat_client_file(r->slot) : NULL;

	return f && leat_shm_flags(f) & LEAT_SHM_COMMITTED;
}

/* Who may only read a file must not change what is known of it by a descriptor, either. A file that
 * has no name any more is the affair of those who have it open. */
long leat_rights_by_fd(const struct leat_syscall *c, int fd)
{
	struct leat_target target = {
		.op = LEAT_OP_META, .dirfd = AT_FDCWD, .flags = AT_SYMLINK_NOFOLLOW};
	char path[PATH_MAX];
	struct leat_resolved resolved;
	struct stat st;
	long rc = leat_fd_learn(fd);

	if (rc)
		return rc;
	leat_rights_of(c, &target);
	if ((!leat_is_enforced() && !target.rights) || raw(SYS_fstat, fd, &st) || !st.st_nlink ||
	    (!leat_is_enforced() && !S_ISDIR(st.st_mode) && !is_committed(fd)))
		return 0;
	rc = leat_fd_name(fd, path, sizeof(path));
	if (rc < 0 || !leat_path_of_name(path))
		return 0;
	rc = leat_path_translate(path, sizeof(path));
	if (rc < 0)
		return -ENAMETOOLONG;
	target.path = path;
	rc = leat_resolve(&resolved, &target);
	/* The name that it was opened by may be gone while it has others. */
	if (rc == LEAT_OUTSIDE || (rc == -ENOENT && !leat_is_enforced()))
		return 0;
	return rc ? rc : leat_resolved_changed(&resolved, 0);
}
