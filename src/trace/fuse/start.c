/* The command is started: in its namespaces, behind its mount, of which this process gets the
 * connection. */
#include "base/enter.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/passing.h"
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the command's process says of its mount, with the connection's descriptor. */
struct entered {
	struct leat_obstacle why; /* static texts are where they were before the fork */
	bool own_users;
};

/* `fd` -1: none. */
static int send_entered(int socket, const struct entered *e, int fd)
{
	struct entered copy = *e;
	struct iovec iov = {&copy, sizeof(copy)};
	union leat_passing passing;
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0)
		leat_pass(&msg, &passing, &fd, 1);
	return sendmsg(socket, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int receive_entered(int socket, struct entered *e, int *fd)
{
	struct iovec iov = {e, sizeof(*e)};
	union leat_passing passing;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = passing.space,
			     .msg_controllen = sizeof(passing.space)};
	ssize_t n;

	do {
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*e))
		return n < 0 ? -errno : -EPIPE;
	*fd = -1;
	leat_take_passed(&msg, fd, 1);
	return 0;
}

static _Noreturn void be_command(struct overlay *o, int socket, int error_fd, const char *cwd)
{
	const struct leat_enter enter = {.dir = o->dir, .name = "leat-trace", .checked = true};
	char *const *argv = o->request->argv;
	struct entered e = {0};
	struct stat st;
	int fd = -1;
	int32_t code;
	char byte;

	leat_enter_mount(&enter, &fd, &e.own_users, &e.why);
	if (send_entered(socket, &e, fd) || e.why.error)
		_exit(126);
	leat_close(&fd);
	/* It is answered from here on. The kernel asks whose the directory is only now. */
	if (leat_read_all(socket, &byte, 1) != 1)
		_exit(126);
	leat_close(&socket);
	code = 0;
	if (stat(o->dir, &st) < 0 || (*cwd && chdir(cwd) < 0)) {
		code = -errno;
	} else {
		execvp(argv[0], argv);
		code = errno;
	}
	leat_write_all(error_fd, &code, sizeof(code));
	_exit(code == ENOENT ? 127 : 126);
}

/* A descriptor for each file that the kernel remembers; the command keeps its limit. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int take_mount(struct overlay *o, int socket)
{
	struct fuse_lowlevel_ops ops = {0};
	struct entered e;
	int fd = -1, rc = receive_entered(socket, &e, &fd);

	if (rc) {
		leat_error("the command could not be put behind its mount: %s", strerror(-rc));
		return rc;
	}
	if (e.why.error) {
		leat_error("the fuse tracer cannot mount over %s: %s (%s)", o->dir, e.why.what,
			   strerror(-e.why.error));
		return e.why.error;
	}
	if (fd < 0)
		return -EPROTO;
	o->own_users = e.own_users;
	o->as_root = !e.own_users;
	ops_add_names(&ops);
	ops_add_attributes(&ops);
	ops_add_directories(&ops);
	ops_add_files(&ops);
	ops_add_data(&ops);
	rc = leat_fuse_new(fd, &ops, LEAT_FUSE_DIRECT_MMAP, o, &o->session);
	if (rc)
		leat_error("no FUSE session can be made: %s", strerror(-rc));
	return rc;
}

int start_command(struct overlay *o, int *error_fd)
{
	int ends[2] = {-1, -1}, error[2] = {-1, -1}, rc = 0;
	char cwd[PATH_MAX] = "";
	pid_t pid = -1;

	if (!getcwd(cwd, sizeof(cwd)))
		*cwd = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
	    pipe2(error, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		rc = -errno;
	if (pid == 0) {
		leat_close(&ends[0]);
		be_command(o, ends[1], error[1], cwd);
	}
	leat_close(&ends[1]);
	leat_close(&error[1]);
	if (rc)
		leat_error("cannot start %s: %s", o->request->argv[0], strerror(-rc));
	raise_limit();
	if (!rc)
		rc = take_mount(o, ends[0]);
	o->command = pid;
	if (rc) {
		leat_close(&ends[0]);
		leat_close(&error[0]);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		return rc;
	}
	*error_fd = error[0];
	o->go_fd = ends[0];
	return 0;
}
