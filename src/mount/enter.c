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
#include <sys/prctl.h>
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
static int enter_namespaces(bool *own_users, const char **why)
{
	int rc = 0;

	*own_users = geteuid() != 0 || unshare(CLONE_NEWNS) < 0;
	if (*own_users)
		rc = enter_user_namespace();
	if (rc) {
		*why = "this machine allows no user namespaces";
		return rc;
	}
	/* Mounts made outside shall come in, ours shall not get out. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0) {
		*why = "the mounts of this machine cannot be kept apart";
		return -errno;
	}
	return 0;
}

static int open_device(const char **why)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	*why = errno == ENOENT || errno == ENODEV ? "this machine has no FUSE (/dev/fuse)"
						  : "/dev/fuse may not be opened by this user";
	return -errno;
}

int leat_enter_mount(const char *dir, const char **why)
{
	char options[128];
	bool own_users;
	int fd, rc = enter_namespaces(&own_users, why);

	if (rc)
		return rc;
	fd = open_device(why);
	if (fd < 0)
		return fd;
	/* With its own user namespace only this user's processes get here. */
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u%s", fd,
		 (unsigned)geteuid(), (unsigned)getegid(), own_users ? "" : ",allow_other");
	if (mount("leat", dir, "fuse.leat", MS_NODEV | (own_users ? MS_NOSUID : 0), options) < 0) {
		*why = "the mount was refused";
		rc = -errno;
		leat_close(&fd);
		return rc;
	}
	return fd;
}

/* What a child found out. */
enum { POSSIBLE, NO_NAMESPACES, NO_DEVICE, NO_PERMISSION, UNKNOWN };

static int try_it(void)
{
	const char *why = "";
	bool own_users;
	int fd;

	if (enter_namespaces(&own_users, &why))
		return NO_NAMESPACES;
	fd = open_device(&why);
	return fd >= 0 ? POSSIBLE : errno == ENOENT || errno == ENODEV ? NO_DEVICE : NO_PERMISSION;
}

bool leat_mount_possible(const char **why)
{
	static const char *const reasons[] = {
		[NO_NAMESPACES] = "this machine allows no user namespaces",
		[NO_DEVICE] = "this machine has no FUSE (/dev/fuse)",
		[NO_PERMISSION] = "/dev/fuse may not be opened by this user",
		[UNKNOWN] = "no process could be started",
	};
	int status = UNKNOWN << 8;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_it());
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == POSSIBLE)
		return true;
	*why = reasons[WIFEXITED(status) && WEXITSTATUS(status) < UNKNOWN ? WEXITSTATUS(status)
									  : UNKNOWN];
	return false;
}
