/* Calls after which a path leads somewhere else: mounts, other root directories, other mount
 * namespaces. The workflow's directory must neither get another name by them, by which its files
 * would be used unseen, nor may its own name mean something else. */
#include "base/layers.h"
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/names.h"
#include "preload/path/paths.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#define HOW_MOUNTS_SPREAD (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE) /* mount's flags */

/* Without the right to, the call fails by itself. */
static bool may(unsigned capability)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return !raw(SYS_capget, &head, data) && (data[0].effective & (1u << capability));
}

static long refuse(const char *call)
{
	return leat_hook_refuse(call, "the workflow's files would have other names then, and be "
				      "used past leat");
}

/* Is it the workflow's directory, in it, or above it? */
static bool is_near(const char *name)
{
	return leat_path_of_name(name) || strcmp(name, "/") == 0 ||
	       leat_text_below(leat_session.real, name, strlen(name));
}

/* The same of what is open; a name that cannot be found out may be. */
static bool is_open_near(int fd, bool *is_root)
{
	struct leat_guard g;
	bool near = true;

	if (leat_guard_acquire(&g))
		return true;
	if (leat_fd_name(fd, g.t->name, sizeof(g.t->name)) > 0) {
		near = is_near(g.t->name);
		*is_root = strcmp(g.t->name, "/") == 0;
	}
	leat_guard_release(&g);
	return near;
}

/* What is not there is for the kernel to say. */
static bool meets(long dirfd, long path, bool may_be_empty)
{
	bool is_root = false, near;
	long fd;

	if (may_be_empty && path && !*(const char *)path)
		return is_open_near((int)dirfd, &is_root);
	fd = raw(SYS_openat, dirfd, path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	near = is_open_near((int)fd, &is_root);
	raw(SYS_close, fd);
	return near;
}

/* ---- mounts ---- */

/* Of a call that makes or moves a mount, in the order in which the kernel looks at them; 0: it is
 * another one. */
static unsigned long making_flags(unsigned long flags)
{
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~(unsigned long)MS_MGC_MSK;
	if (flags & MS_REMOUNT)
		return 0;
	if (flags & MS_BIND)
		return MS_BIND;
	if (flags & HOW_MOUNTS_SPREAD)
		return 0;
	return flags & MS_MOVE ? MS_MOVE : MS_NOSYMFOLLOW; /* any but these two */
}

static bool meets_one_of(struct leat_layers layers)
{
	char path[PATH_MAX];

	while (leat_layers_next(&layers, path, sizeof(path)))
		if (meets(AT_FDCWD, (long)path, false))
			return true;
	return false;
}

/* Does the workflow's directory lie on this device? */
static bool is_device(long path)
{
	struct stat device, dir;

	return path && !raw(SYS_newfstatat, AT_FDCWD, path, &device, 0) &&
	       S_ISBLK(device.st_mode) &&
	       !raw(SYS_newfstatat, AT_FDCWD, leat_session.real, &dir, 0) &&
	       dir.st_dev == device.st_rdev;
}

long leat_hook_mount(const struct leat_syscall *c)
{
	unsigned long flags = making_flags((unsigned long)c->a[3]);
	const char *type = (const char *)c->a[2], *options = (const char *)c->a[4];

	if (!flags || !may(CAP_SYS_ADMIN))
		return LEAT_PASS;
	leat_hook_confine(c);
	if (meets(AT_FDCWD, c->a[1], false))
		return refuse("mount");
	if (flags & (MS_BIND | MS_MOVE))
		return meets(AT_FDCWD, c->a[0], false) ? refuse("mount") : LEAT_PASS;
	if (type && options && strcmp(type, "overlay") == 0)
		return meets_one_of(leat_layers_of_options(options)) ? refuse("mount") : LEAT_PASS;
	return is_device(c->a[0]) ? refuse("mount") : LEAT_PASS;
}

/* A part of what a file system is to be made of. */
long leat_hook_fsconfig(const struct leat_syscall *c)
{
	const char *key = (const char *)c->a[2], *value = (const char *)c->a[3];
	unsigned command = (unsigned)c->a[1];
	bool near = false, is_root;

	if (command < FSCONFIG_SET_STRING || command > FSCONFIG_SET_FD || !key ||
	    !may(CAP_SYS_ADMIN))
		return LEAT_PASS;
	leat_hook_confine(c);
	if (command == FSCONFIG_SET_FD)
		near = leat_layers_is_key(key) && is_open_near((int)c->a[4], &is_root);
	else if (value && strcmp(key, "source") == 0)
		near = is_device((long)value);
	else if (value && leat_layers_is_key(key))
		near = command == FSCONFIG_SET_STRING ? meets_one_of(leat_layers_of_value(value))
						      : meets(c->a[4], (long)value, true);
	return near ? refuse("fsconfig") : LEAT_PASS;
}

/* Else there is nothing to unmount. */
static bool is_mount(long path)
{
	struct statx st = {0};

	return !raw(SYS_statx, AT_FDCWD, path, AT_NO_AUTOMOUNT, 0, &st) &&
	       ((st.stx_attributes & STATX_ATTR_MOUNT_ROOT) ||
		!(st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT));
}

long leat_hook_umount2(const struct leat_syscall *c)
{
	if (!may(CAP_SYS_ADMIN) || !is_mount(c->a[0]) || !meets(AT_FDCWD, c->a[0], false))
		return LEAT_PASS;
	leat_hook_confine(c);
	return refuse("umount2");
}

long leat_hook_move_mount(const struct leat_syscall *c)
{
	unsigned flags = (unsigned)c->a[4];

	if (!may(CAP_SYS_ADMIN))
		return LEAT_PASS;
	leat_hook_confine(c);
	/* What has no name yet was looked at when it was made. */
	if (meets(c->a[2], c->a[3], flags & MOVE_MOUNT_T_EMPTY_PATH) ||
	    meets(c->a[0], c->a[1], false))
		return refuse("move_mount");
	return LEAT_PASS;
}

long leat_hook_open_tree(const struct leat_syscall *c)
{
	unsigned flags = (unsigned)c->a[2];

	if (!(flags & OPEN_TREE_CLONE) || !may(CAP_SYS_ADMIN))
		return LEAT_PASS;
	leat_hook_confine(c);
	if (!meets(c->a[0], c->a[1], flags & AT_EMPTY_PATH))
		return LEAT_PASS;
	return refuse(c->nr == SYS_open_tree ? "open_tree" : "open_tree_attr");
}

/* ---- root directories ---- */

/* What is known of paths, and of the working directory, was before. */
static long forget(long rc)
{
	if (!rc)
		leat_path_forget();
	return rc;
}

/* Does the workflow's directory have its name there, if it has one? */
static bool keeps_names(int root)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	bool is_root = false, same;
	struct stat own, its;
	long fd;

	if (is_open_near(root, &is_root))
		return is_root;
	fd = raw(SYS_openat2, root, leat_session.real, &how, sizeof(how));
	if (fd < 0)
		return true;
	same = !raw(SYS_fstat, fd, &its) &&
	       !raw(SYS_newfstatat, AT_FDCWD, leat_session.real, &own, 0) &&
	       its.st_dev == own.st_dev && its.st_ino == own.st_ino;
	raw(SYS_close, fd);
	return same;
}

long leat_hook_chroot(const struct leat_syscall *c)
{
	long root = -1;
	bool keeps = true;

	leat_hook_confine(c);
	if (may(CAP_SYS_CHROOT))
		root = raw(SYS_openat, AT_FDCWD, c->a[0], O_PATH | O_CLOEXEC);
	if (root >= 0) {
		keeps = keeps_names((int)root);
		raw(SYS_close, root);
	}
	if (!keeps)
		return refuse("chroot");
	return forget(leat_as_is(c));
}

/* All that was there gets another name. */
long leat_hook_pivot_root(const struct leat_syscall *c)
{
	leat_hook_confine(c);
	return may(CAP_SYS_ADMIN) ? refuse("pivot_root") : LEAT_PASS;
}

/* ---- namespaces ---- */

/* Another mount namespace than this process's. */
static bool is_other_view(int fd, unsigned kinds)
{
	struct stat its, own;

	if (!kinds && raw(SYS_ioctl, fd, NS_GET_NSTYPE) != CLONE_NEWNS)
		return false;
	if (kinds && !(kinds & CLONE_NEWNS))
		return false;
	return raw(SYS_fstat, fd, &its) ||
	       raw(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/mnt", &own, 0) ||
	       its.st_dev != own.st_dev || its.st_ino != own.st_ino;
}

long leat_hook_setns(const struct leat_syscall *c)
{
	unsigned kinds = (unsigned)c->a[1];

	leat_hook_confine(c);
	/* With a user namespace come the rights over it. */
	if (is_other_view((int)c->a[0], kinds) && (may(CAP_SYS_ADMIN) || (kinds & CLONE_NEWUSER)))
		return refuse("setns");
	return forget(leat_as_is(c));
}
