/* The program's process: it starts the server, mounts, and becomes the program, so that its exit
 * status and its signals are the program's own. */
#include "mount/daemon/handshake.h"
#include "mount/files/alive.h"
#include "mount/guard/filter.h"
#include "mount/server.h"

#include "base/clock.h"
#include "base/confine.h"
#include "base/container.h"
#include "base/elf.h"
#include "base/enter.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/pidstat.h"
#include "base/putby.h"
#include "shm/roll.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWN_FAILURE = 125, CANNOT_EXECUTE = 126, NOT_FOUND = 127 };

/* The server is no child of the program's, and no member of its session: the program may wait for
 * all its children, and a signal to its group must not end the server before it. */
static int start_server(const struct leat_mount_spec *spec, int peer, int other)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		close(other);
		setsid();
		pid = fork();
		if (pid == 0)
			_exit(leat_server_run(spec, peer));
		_exit(pid < 0);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? -EAGAIN : 0;
}

static int mount_for(const struct leat_mount_spec *spec, int server)
{
	const struct leat_enter e = {.dir = spec->dir, .name = "leat", .ranged = spec->ranged};
	struct leat_obstacle why;
	bool own_users;
	int fd, rc;

	if (leat_enter_mount(&e, &fd, &own_users, &why)) {
		leat_error("%s cannot be intercepted, and %s", spec->program, why.what);
		leat_handshake_send(server, -EPERM, "");
		return -EPERM;
	}
	rc = leat_handshake_send_fd(server, fd, own_users);
	leat_close(&fd);
	return rc;
}

/* What says nothing of the daemon stays: what a step's command goes by, and what the user has told
 * each leat, of which the command may be one. */
static bool is_kept(const char *variable)
{
	static const char *const names[] = {"LEAT_TASK=",      "LEAT_INSTANCE=", "LEAT_INSTANCES=",
					    "LEAT_STATE_DIR=", "LEAT_LIBRARY=",  "LEAT_ACTION="};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool is_session(const char *variable)
{
	return (strncmp(variable, "LEAT_", 5) == 0 && !is_kept(variable)) ||
	       strncmp(variable, "CAPIO_", 6) == 0;
}

/* All below the mount goes through it: nothing there is to speak to the daemon itself. What was put
 * by for the program has its names again. */
static void forget_session(void)
{
	char **to = environ;

	for (char **from = environ; from && *from; from++)
		if (strncmp(*from, LEAT_PUT_BY, strlen(LEAT_PUT_BY)) == 0)
			*to++ = *from + strlen(LEAT_PUT_BY);
		else if (!is_session(*from))
			*to++ = *from;
	if (to)
		*to = NULL;
}

static bool is_our_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strcmp(name, "libleat.so") == 0 || strcmp(name, "libleat-wrap.so") == 0;
}

/* LD_PRELOAD without our library. */
static void forget_library(void)
{
	const char *list = getenv("LD_PRELOAD");
	char *left, *word, *rest = NULL, *copy;

	if (!list)
		return;
	copy = strdup(list);
	left = calloc(1, strlen(list) + 1);
	for (word = copy && left ? strtok_r(copy, ": ", &rest) : NULL; word;
	     word = strtok_r(NULL, ": ", &rest)) {
		if (is_our_library(word))
			continue;
		if (*left)
			strcat(left, ":");
		strcat(left, word);
	}
	if (left && *left)
		setenv("LD_PRELOAD", left, 1);
	else
		unsetenv("LD_PRELOAD");
	free(left);
	free(copy);
}

/* What rootless engines leave to themselves where they have become root in a user namespace: there
 * they do not do so again, nor enter that of a process that another of them has left. Source:
 * containers/storage, pkg/unshare. */
static int report_engine(uid_t uid, gid_t gid)
{
	char number[16];

	if (setenv("_CONTAINERS_USERNS_CONFIGURED", "done", 1) < 0)
		return -errno;
	snprintf(number, sizeof(number), "%u", (unsigned)uid);
	if (setenv("_CONTAINERS_ROOTLESS_UID", number, 1) < 0)
		return -errno;
	snprintf(number, sizeof(number), "%u", (unsigned)gid);
	return setenv("_CONTAINERS_ROOTLESS_GID", number, 1) < 0 ? -errno : 0;
}

/* The server is asked about some calls. */
static int filter(int server)
{
	int listener, rc = leat_filter_install(&listener);

	if (!rc && listener >= 0)
		rc = leat_handshake_send_fd(server, listener, true);
	leat_close(&listener);
	return rc;
}

static int set_up(const struct leat_mount_spec *spec, int server)
{
	char cwd[PATH_MAX], ignored[PATH_MAX];
	struct stat st;
	int rc = leat_handshake_receive(server, cwd);

	if (!rc)
		rc = mount_for(spec, server);
	if (!rc)
		rc = leat_handshake_receive(server, ignored);
	/* The kernel takes the directory for another user's until it has asked. */
	if (!rc && stat(spec->dir, &st) < 0)
		rc = -errno;
	if (!rc && *cwd && chdir(cwd) < 0)
		rc = -errno;
	if (!rc)
		leat_alive_hold(spec->dir);
	if (!rc)
		rc = filter(server);
	/* The server was started before, and is out of reach. */
	if (!rc && spec->sealed)
		rc = leat_confine_seal();
	if (rc)
		leat_error("%s cannot be started in its view of %s: %s", spec->program, spec->dir,
			   rc == -EPIPE ? "the server of its mount (" LEAT_PROGRAM_MOUNT
					  ") has ended unexpectedly"
					: strerror(-rc));
	return rc;
}

/* Before the view is another one. NULL: there is none, or it is out of reach. */
static struct leat_roll *open_roll(const struct leat_mount_spec *spec)
{
	struct leat_roll *roll = MAP_FAILED;
	char path[PATH_MAX];
	int fd = -1;

	if (leat_wire_session_path(spec->runtime_dir, geteuid(), spec->dir, path,
				   sizeof(path) - sizeof(LEAT_ROLL_NAME)) == 0) {
		strcpy(strrchr(path, '/') + 1, LEAT_ROLL_NAME);
		fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd >= 0)
		roll = mmap(NULL, sizeof(*roll), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	leat_close(&fd);
	return roll == MAP_FAILED ? NULL : roll;
}

static uint64_t own_key(const struct leat_roll *roll)
{
	uint64_t namespace = (uint32_t)leat_pid_namespace(), pid = (uint64_t)getpid();

	return namespace == roll->namespace ? pid : pid | namespace << 32;
}

/* Whoever started this awaits a word of it: the mount sees all from here on. */
static void become(const struct leat_mount_spec *spec, struct leat_roll *roll)
{
	int error;

	if (roll)
		leat_roll_leave(roll, own_key(roll));
	execv(spec->program, spec->argv);
	error = errno;
	if (roll)
		leat_roll_start(roll, own_key(roll), leat_roll_step(spec->step), spec->program,
				leat_clock_ns(), NULL);
	errno = error;
}

int leat_mount_exec(const struct leat_mount_spec *spec)
{
	struct leat_roll *roll = open_roll(spec);
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int ends[2] = {-1, -1};
	int rc = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;

	if (!rc)
		rc = start_server(spec, ends[1], ends[0]);
	leat_close(&ends[1]);
	if (rc)
		leat_error("%s cannot be started: %s", spec->program, strerror(-rc));
	else
		rc = set_up(spec, ends[0]);
	leat_close(&ends[0]);
	forget_session();
	forget_library();
	if (!rc && spec->ranged && (rc = report_engine(uid, gid)))
		leat_error("%s cannot be started: %s", spec->program, strerror(-rc));
	if (rc)
		return OWN_FAILURE;
	become(spec, roll);
	rc = errno;
	leat_error("cannot execute %s: %s", spec->program, strerror(rc));
	return rc == ENOENT ? NOT_FOUND : CANNOT_EXECUTE;
}

bool leat_mount_is_ranged(const char *program, char *const argv[])
{
	int fd = leat_container_of(program, argv, environ, geteuid() == 0) == LEAT_CONTAINER_USERS
			 ? open(program, O_RDONLY | O_CLOEXEC)
			 : -1;
	/* A script of that name is what it starts. */
	bool is = fd >= 0 && leat_elf_inspect(fd, pread) != LEAT_ELF_NONE;

	leat_close(&fd);
	return is;
}

bool leat_mount_possible(bool ranged, const char **why)
{
	static bool tried[2];
	static struct leat_obstacle obstacle[2];

	if (!tried[ranged])
		leat_enter_try(ranged, &obstacle[ranged]);
	tried[ranged] = true;
	if (obstacle[ranged].error)
		*why = obstacle[ranged].what;
	return !obstacle[ranged].error;
}
