/* breakout DIRECTORY FILE: a step that wants to read FILE of the workflow's DIRECTORY although it
 * may not, by means that leat does not offer. For each way one line: "WAY got" or "WAY refused". */
#include "wire/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FD = 2048 };

static const char *dir, *name;

/* Can FILE be read, looked for in the directory `at`? */
static bool can_read(int at, const char *path)
{
	char c;
	int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
	bool got = fd >= 0 && read(fd, &c, 1) == 1;

	if (fd >= 0)
		close(fd);
	return got;
}

static bool by_path(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return can_read(AT_FDCWD, path);
}

/* Whatever was left open. */
static bool by_own_descriptors(void)
{
	bool got = false;

	for (int fd = 0; fd < MAX_FD; fd++)
		got |= can_read(fd, name);
	return got;
}

/* The next other process in /proc, 0 at the end. */
static long next_process(DIR *proc)
{
	const struct dirent *e;

	while (proc && (e = readdir(proc))) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 0 && pid != getpid())
			return pid;
	}
	return 0;
}

/* FILE in what a name below each process's directory in /proc stands for. */
static bool by_processes(const char *what)
{
	DIR *proc = opendir("/proc");
	bool got = false;
	long pid;

	while ((pid = next_process(proc))) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/proc/%ld/%s/%s", pid, what, name);
		got |= can_read(AT_FDCWD, path);
	}
	if (proc)
		closedir(proc);
	return got;
}

static bool by_roots(void)
{
	char what[PATH_MAX];

	snprintf(what, sizeof(what), "root%s", dir);
	return by_processes(what);
}

static bool by_working_directories(void)
{
	return by_processes("cwd");
}

static bool by_their_descriptors(void)
{
	bool got = false;

	for (int fd = 0; fd < 64; fd++) {
		char what[32];

		snprintf(what, sizeof(what), "fd/%d", fd);
		got |= by_processes(what);
	}
	return got;
}

static bool by_taken_descriptors(void)
{
	DIR *proc = opendir("/proc");
	bool got = false;
	long pid;

	while ((pid = next_process(proc))) {
		long other = syscall(SYS_pidfd_open, pid, 0);

		for (int fd = 0; other >= 0 && fd < 64; fd++) {
			long taken = syscall(SYS_pidfd_getfd, other, fd, 0);

			if (taken < 0)
				continue;
			got |= can_read((int)taken, name);
			close((int)taken);
		}
		if (other >= 0)
			close((int)other);
	}
	if (proc)
		closedir(proc);
	return got;
}

/* In a child, whose namespaces they are then. */
static bool in_child(bool (*attempt)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(attempt() ? 0 : 1);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool unmounts(void)
{
	if (umount2(dir, MNT_DETACH) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	    umount2(dir, MNT_DETACH) < 0)
		return false;
	return by_path();
}

static bool by_unmounting(void)
{
	return in_child(unmounts);
}

static bool enters(void)
{
	DIR *proc = opendir("/proc");
	bool got = false;
	long pid;

	while (!got && (pid = next_process(proc))) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/proc/%ld/ns/mnt", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && setns(fd, CLONE_NEWNS) == 0)
			got = by_path();
	}
	return got;
}

static bool by_entering(void)
{
	return in_child(enters);
}

/* ---- as a client of the daemon ---- */

static int dial(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const char *runtime = getenv("BREAKOUT_RUNTIME");

	if (leat_wire_session_path(runtime, geteuid(), dir, to.sun_path, sizeof(to.sun_path)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		fprintf(stderr, "breakout: no daemon\n");
		exit(2);
	}
	return fd;
}

/* Says hello; can FILE be read from any descriptor that the daemon gives? */
static bool greets(const char *step, unsigned control)
{
	static char buf[LEAT_WIRE_MAX] __attribute__((aligned(8)));
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(4 * sizeof(int))];
	struct iovec io = {.iov_base = buf, .iov_len = sizeof(buf)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	struct leat_msg_hello *hello = leat_wire_begin(buf, LEAT_MSG_HELLO, sizeof(*hello));
	const struct cmsghdr *cm;
	int fds[4], socket = dial();
	bool got = false;

	hello->control = control;
	if (leat_wire_put(buf, step) || leat_wire_put(buf, "") || leat_wire_put(buf, "breakout") ||
	    leat_wire_put(buf, "00000000000000000000000000000000") ||
	    send(socket, buf, hello->h.size, MSG_NOSIGNAL) < 0)
		return false;
	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) > 0 && (cm = CMSG_FIRSTHDR(&msg)) &&
	    cm->cmsg_type == SCM_RIGHTS) {
		size_t n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		memcpy(fds, CMSG_DATA(cm), n * sizeof(int));
		for (size_t i = 0; i < n; i++)
			got |= can_read(fds[i], name);
	}
	close(socket);
	return got;
}

static bool as_this_step(void)
{
	return greets("thief", 0);
}

static bool as_another_step(void)
{
	return greets("owner", 0);
}

static bool as_leat(void)
{
	return greets("", 1);
}

/* Two forks away nobody knows whose child it was. */
static bool far_away(bool (*attempt)(void))
{
	int ends[2];
	char answer = 'n';
	pid_t pid;

	if (pipe(ends) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			pid_t parent = getppid();

			setsid();
			for (int i = 0; i < 200 && getppid() == parent; i++)
				usleep(5000);
			answer = attempt() ? 'y' : 'n';
			_exit(write(ends[1], &answer, 1) != 1);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(ends[1]);
	if (read(ends[0], &answer, 1) != 1)
		answer = 'n';
	close(ends[0]);
	return answer == 'y';
}

static bool as_this_step_far_away(void)
{
	return far_away(as_this_step);
}

static bool as_another_step_far_away(void)
{
	return far_away(as_another_step);
}

static bool as_leat_far_away(void)
{
	return far_away(as_leat);
}

#define WAY(name)                                                                                  \
	{                                                                                          \
#name, name                                                                        \
	}

static const struct {
	const char *name;
	bool (*attempt)(void);
} ways[] = {WAY(by_path),
	    WAY(by_own_descriptors),
	    WAY(by_roots),
	    WAY(by_working_directories),
	    WAY(by_their_descriptors),
	    WAY(by_taken_descriptors),
	    WAY(by_unmounting),
	    WAY(by_entering),
	    WAY(as_this_step),
	    WAY(as_another_step),
	    WAY(as_leat),
	    WAY(as_this_step_far_away),
	    WAY(as_another_step_far_away),
	    WAY(as_leat_far_away)};

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: breakout DIRECTORY FILE\n");
		return 2;
	}
	dir = argv[1];
	name = argv[2];
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		printf("%s %s\n", ways[i].name, ways[i].attempt() ? "got" : "refused");
		fflush(stdout);
	}
	return 0;
}
