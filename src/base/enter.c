#include "base/enter.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int refused(struct leat_obstacle *why, int error)
{
	why->error = error;
	why->what = geteuid() ? forbidden("this machine lets this user mount nothing here")
			      : "this machine lets nobody mount here";
	return error;
}

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

static int enter_namespaces(bool *own_users, struct leat_obstacle *why)
{
	*own_users = geteuid() != 0 || unshare(CLONE_NEWNS) < 0;
	if (*own_users)
		why->error = enter_user_namespace();
	if (why->error) {
		why->what = forbidden("this machine allows no user namespaces");
		return why->error;
	}
	/* Mounts made outside shall come in, ours shall not get out. */
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ? refused(why, -errno) : 0;
}

/* In the namespace that mounts: the kernel insists. */
static int open_device(struct leat_obstacle *why)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	why->error = -errno;
	why->what = errno == ENOENT || errno == ENODEV ? "this machine has no FUSE (/dev/fuse)"
						       : "/dev/fuse may not be opened by this user";
	return why->error;
}

int leat_enter_mount(const struct leat_enter *e, int *out, bool *own_users,
		     struct leat_obstacle *why)
{
	char options[128], type[64];
	int fd, rc;

	*why = (struct leat_obstacle){0};
	rc = enter_namespaces(own_users, why);
	fd = rc ? rc : open_device(why);
	if (fd < 0)
		return fd;
	/* With its own user namespace only this user's processes get here, and what it may do is
	 * found out by doing it. */
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u%s%s", fd,
		 (unsigned)geteuid(), (unsigned)getegid(), *own_users ? "" : ",allow_other",
		 e->checked && !*own_users ? ",default_permissions" : "");
	snprintf(type, sizeof(type), "fuse.%s", e->name);
	/* Whoever finds the mount elsewhere, in a container, is told so what it shows. */
	if (mount(e->dir, e->dir, type, MS_NODEV | (*own_users ? MS_NOSUID : 0), options) < 0) {
		rc = refused(why, -errno);
		leat_close(&fd);
		return rc;
	}
	*out = fd;
	return 0;
}

int leat_enter_try(struct leat_obstacle *why)
{
	const struct leat_enter e = {.dir = "/", .name = "leat"};
	bool own_users;
	int ends[2], fd;
	pid_t pid;

	*why = (struct leat_obstacle){.what = "no process can be started", .error = -EAGAIN};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return why->error;
	pid = fork();
	if (pid == 0) {
		struct leat_obstacle found;

		leat_enter_mount(&e, &fd, &own_users, &found);
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
