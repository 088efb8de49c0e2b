/* A mount for one command: in a mount namespace of its own and, for an ordinary user, in a user
 * namespace in which it keeps its ids. */
#include "base/fd.h"
#include "trace/fuse/internal.h"

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

static int enter_namespaces(bool *own_users, struct obstacle *why)
{
	int rc = 0;

	*own_users = geteuid() != 0 || unshare(CLONE_NEWNS) < 0;
	if (*own_users)
		rc = enter_user_namespace();
	if (rc) {
		why->what = "this machine lets users have no namespaces of their own (look at "
			    "user.max_user_namespaces, kernel.unprivileged_userns_clone and "
			    "kernel.apparmor_restrict_unprivileged_userns)";
		return rc;
	}
	/* Mounts made outside shall come in, ours shall not get out. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
		return 0;
	why->what = "this machine lets nobody mount here";
	return -errno;
}

int enter_mount(const char *dir, int *out, bool *own_users, struct obstacle *why)
{
	char options[128];
	int fd, rc = enter_namespaces(own_users, why);

	if (rc)
		return why->error = rc;
	/* Opened in the namespace that mounts: the kernel insists. */
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		why->error = -errno;
		why->what = errno == ENOENT || errno == ENODEV
				    ? "this machine has no FUSE (/dev/fuse)"
				    : "/dev/fuse may not be opened by this user";
		return why->error;
	}
	/* With its own user namespace only this user's processes get here, and what it may do is
	 * found out by doing it. */
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u%s", fd,
		 (unsigned)geteuid(), (unsigned)getegid(),
		 *own_users ? "" : ",allow_other,default_permissions");
	if (mount("leat-trace", dir, "fuse.leat-trace", MS_NODEV | (*own_users ? MS_NOSUID : 0),
		  options) < 0) {
		why->error = -errno;
		why->what = "this machine lets this user mount nothing here";
		leat_close(&fd);
		return why->error;
	}
	*out = fd;
	return 0;
}

/* By a process that mounts, and takes all of it with it. */
int enter_try(struct obstacle *why)
{
	int ends[2], fd;
	bool own_users;
	pid_t pid;

	*why = (struct obstacle){.what = "no process can be started", .error = -EAGAIN};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		struct obstacle found = {0};

		enter_mount("/", &fd, &own_users, &found);
		_exit(leat_write_all(ends[1], &found, sizeof(found)) != 0);
	}
	leat_close(&ends[1]);
	if (pid > 0) {
		/* Static texts are where they were, in a child too. */
		if (leat_read_all(ends[0], why, sizeof(*why)) != sizeof(*why))
			why->error = -EIO;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	leat_close(&ends[0]);
	return why->error;
}
