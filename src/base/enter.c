#include "base/enter.h"

#include "base/fd.h"
#include "base/subid.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PROCESS "no process can be started"

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
		char value = 0;

		if (fd >= 0 && read(fd, &value, 1) == 1 && value == switches[i].forbids)
			otherwise = switches[i].reason;
		leat_close(&fd);
	}
	return otherwise;
}

static int refused(struct leat_obstacle *why, bool own_users, int error)
{
	why->error = error;
	why->what = own_users ? forbidden("this machine lets this user mount nothing here")
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

/* ---- user namespaces ---- */

static int put_map(const char *path, unsigned inside, unsigned outside)
{
	char map[64];

	snprintf(map, sizeof(map), "%u %u 1", inside, outside);
	return put(path, map);
}

static int deny_groups(void)
{
	int rc = put("/proc/self/setgroups", "deny");

	return rc == -ENOENT ? 0 : rc;
}

/* In which this user is who it was, and may mount. */
static int enter_as_self(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int rc = unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? -errno : deny_groups();

	if (!rc)
		rc = put_map("/proc/self/uid_map", (unsigned)uid, (unsigned)uid);
	return rc ? rc : put_map("/proc/self/gid_map", (unsigned)gid, (unsigned)gid);
}

/* This user, and the ids that are subordinate to it. Without such it is root inside, alone. */
struct users {
	uid_t uid;
	gid_t gid;
	struct leat_subids uids, gids;
};

static int find_users(struct users *u)
{
	const struct passwd *user;
	const char *name;
	int rc;

	u->uid = geteuid();
	u->gid = getegid();
	user = getpwuid(u->uid);
	name = user ? user->pw_name : "";
	rc = leat_subid_read("/etc/subuid", name, u->uid, &u->uids);
	return rc ? rc : leat_subid_read("/etc/subgid", name, u->uid, &u->gids);
}

/* Only a process outside may map subordinate ids: a child waits there until `member` has gone in.
 */
static pid_t start_mapping(const struct users *u, pid_t member, int is_in, int other)
{
	pid_t pid = fork();
	char byte;
	int rc = 0;

	if (pid)
		return pid;
	close(other);
	if (leat_read_all(is_in, &byte, 1) != 1)
		_exit(0);
	if (u->uids.n)
		rc = leat_subid_map("newuidmap", member, u->uid, &u->uids);
	if (!rc && u->gids.n)
		rc = leat_subid_map("newgidmap", member, u->gid, &u->gids);
	_exit(-rc);
}

static int end_mapping(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/* The own ids, where nothing else is mapped. */
static int map_own(const struct users *u)
{
	int rc = u->uids.n ? 0 : put_map("/proc/self/uid_map", 0, (unsigned)u->uid);

	if (!rc && !u->gids.n)
		rc = deny_groups();
	return rc || u->gids.n ? rc : put_map("/proc/self/gid_map", 0, (unsigned)u->gid);
}

static const char *why_not_mapped(int error)
{
	if (error == -ENOENT)
		return "newuidmap and newgidmap, which map the users of its containers, are not "
		       "installed (Debian: uidmap)";
	return "newuidmap or newgidmap refuses to map the users of its containers: "
	       "/etc/subuid and /etc/subgid each need a line NAME:FIRST:COUNT for this user, and "
	       "the two programs their rights (set-id or capabilities)";
}

/* In which this user is root, with its subordinate ids. */
static int enter_as_root(struct leat_obstacle *why)
{
	struct users u;
	int ends[2] = {-1, -1}, rc = find_users(&u), mapped;
	pid_t outside;

	if (rc) {
		why->what = "/etc/subuid or /etc/subgid cannot be read, or has more ranges for "
			    "this user than the kernel maps (339)";
		return rc;
	}
	outside = pipe2(ends, O_CLOEXEC) < 0 ? -1 : start_mapping(&u, getpid(), ends[0], ends[1]);
	leat_close(&ends[0]);
	if (outside < 0) {
		rc = -errno;
		why->what = NO_PROCESS;
		leat_close(&ends[1]);
		return rc;
	}
	rc = unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? -errno : map_own(&u);
	if (!rc)
		rc = leat_write_all(ends[1], "", 1);
	leat_close(&ends[1]);
	mapped = end_mapping(outside);
	if (mapped)
		why->what = why_not_mapped(mapped);
	return rc ? rc : mapped;
}

static int enter_namespaces(bool *own_users, bool ranged, struct leat_obstacle *why)
{
	*own_users = geteuid() != 0 || unshare(CLONE_NEWNS) < 0;
	if (*own_users)
		why->error = ranged ? enter_as_root(why) : enter_as_self();
	if (why->error && !why->what)
		why->what = forbidden("this machine allows no user namespaces");
	if (why->error)
		return why->error;
	/* Mounts made outside shall come in, ours shall not get out. */
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0
		       ? refused(why, *own_users, -errno)
		       : 0;
}

/* ---- the mount ---- */

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
	rc = enter_namespaces(own_users, e->ranged, why);
	fd = rc ? rc : open_device(why);
	if (fd < 0)
		return fd;
	/* With its own user namespace only this user's processes get here, and those of the ids
	 * that it maps; what it may do is found out by doing it. */
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u%s%s", fd,
		 (unsigned)geteuid(), (unsigned)getegid(),
		 *own_users && !e->ranged ? "" : ",allow_other",
		 e->checked && !*own_users ? ",default_permissions" : "");
	snprintf(type, sizeof(type), "fuse.%s", e->name);
	/* Whoever finds the mount elsewhere, in a container, is told so what it shows. */
	if (mount(e->dir, e->dir, type, MS_NODEV | (*own_users ? MS_NOSUID : 0), options) < 0) {
		rc = refused(why, *own_users, -errno);
		leat_close(&fd);
		return rc;
	}
	*out = fd;
	return 0;
}

int leat_enter_try(bool ranged, struct leat_obstacle *why)
{
	const struct leat_enter e = {.dir = "/", .name = "leat", .ranged = ranged};
	bool own_users;
	int ends[2], fd;
	pid_t pid;

	*why = (struct leat_obstacle){.what = NO_PROCESS, .error = -EAGAIN};
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
