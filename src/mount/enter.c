/* A mount for one program: in a mount namespace of its own, and, for an ordinary user, in a user
 * namespace where it keeps its ids. */
#include "base/fd.h"
#include "mount/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : leat_write_all(fd, text, strlen(text));

	leat_close(&fd);
	return rc;
}

/* A user namespace in which this user is who it was, and may mount. */
static int enter_user_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];
	int rc;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	rc = put("/proc/self/setgroups", "deny");
	if (rc && rc != -ENOENT)
		return rc;
	snprintf(map, sizeof(map), "%u %u 1", (unsigned)uid, (unsigned)uid);
	rc = put("/proc/self/uid_map", map);
	if (rc)
		return rc;
	snprintf(map, sizeof(map), "%u %u 1", (unsigned)gid, (unsigned)gid);
	return put("/proc/self/gid_map", map);
}

/* *own_users: a user namespace was needed. */
static enum leat_enter_result enter_namespaces(bool *own_users)
{
	*own_users = geteuid() != 0 || unshare(CLONE_NEWNS) < 0;
	if (*own_users && enter_user_namespace())
		return LEAT_ENTER_NO_NAMESPACE;
	/* Mounts made outside shall come in, ours shall not get out. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return LEAT_ENTER_REFUSED;
	return LEAT_ENTER_DONE;
}

enum leat_enter_result leat_enter_mount(const char *dir, int *out, bool *own_users)
{
	char options[128];
	int fd;
	enum leat_enter_result result = enter_namespaces(own_users);

	if (result != LEAT_ENTER_DONE)
		return result;
	/* Opened in the namespace that mounts: the kernel insists. */
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENODEV ? LEAT_ENTER_NO_DEVICE
							  : LEAT_ENTER_NO_PERMISSION;
	/* With its own user namespace only this user's processes get here. */
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u%s", fd,
		 (unsigned)geteuid(), (unsigned)getegid(), *own_users ? "" : ",allow_other");
	if (mount("leat", dir, "fuse.leat", MS_NODEV | (*own_users ? MS_NOSUID : 0), options) < 0) {
		leat_close(&fd);
		return LEAT_ENTER_REFUSED;
	}
	*out = fd;
	return LEAT_ENTER_DONE;
}

/* What administrators forbid ordinary users by, and how to say so. */
static const struct {
	const char *path;
	char forbids; /* the first character of what it says */
	const char *reason;
} switches[] = {
	{"/proc/sys/user/max_user_namespaces", '0',
	 "this machine allows no user namespaces (user.max_user_namespaces is 0)"},
	{"/proc/sys/kernel/unprivileged_userns_clone", '0',
	 "this machine allows users no namespaces (kernel.unprivileged_userns_clone is 0)"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
	 "this machine allows no mounts in user namespaces "
	 "(kernel.apparmor_restrict_unprivileged_userns is 1)"},
};

/* By which of them it was, or `otherwise`. */
static const char *forbidden(const char *otherwise)
{
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		int fd = open(switches[i].path, O_RDONLY | O_CLOEXEC);
		char says = 0;

		if (fd >= 0 && read(fd, &says, 1) == 1 && says == switches[i].forbids)
			otherwise = switches[i].reason;
		leat_close(&fd);
	}
	return otherwise;
}

const char *leat_enter_reason(enum leat_enter_result result)
{
	switch (result) {
	case LEAT_ENTER_NO_NAMESPACE:
		return forbidden("this machine allows no user namespaces");
	case LEAT_ENTER_NO_DEVICE:
		return "this machine has no FUSE (/dev/fuse)";
	case LEAT_ENTER_NO_PERMISSION:
		return "/dev/fuse may not be opened by this user";
	default:
		return geteuid() ? forbidden("this machine lets this user mount nothing here")
				 : "this machine lets nobody mount here";
	}
}

/* By a process that mounts, and takes all of it with it. */
static enum leat_enter_result try_mount(void)
{
	enum leat_enter_result result = LEAT_ENTER_REFUSED;
	bool own_users;
	int status = 0, fd;
	pid_t pid = fork();

	if (pid == 0)
		_exit((int)leat_enter_mount("/", &fd, &own_users));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status))
		result = (enum leat_enter_result)WEXITSTATUS(status);
	return result;
}

bool leat_mount_possible(const char **why)
{
	static bool tried;
	static enum leat_enter_result result;

	if (!tried)
		result = try_mount();
	tried = true;
	if (result != LEAT_ENTER_DONE)
		*why = leat_enter_reason(result);
	return result == LEAT_ENTER_DONE;
}
