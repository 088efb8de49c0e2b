/* The command is started: stopped until it is traced, with the filter that its children have too.
 */
#include "base/fd.h"
#include "base/log.h"
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without the tracer the calls that stop would fail: should it be killed, so are the traced. */
#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |                      \
	 PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

static _Noreturn void become(char *const *argv, int go, int error)
{
	char byte;
	int32_t code = 0;

	if (leat_read_all(go, &byte, 1) == 1) {
		code = -leat_ptrace_filter_install();
		if (!code) {
			execvp(argv[0], argv);
			code = errno;
		} else {
			code = -code; /* not the program's fault */
		}
		leat_write_all(error, &code, sizeof(code));
	}
	_exit(code == ENOENT ? 127 : 126);
}

/* The tracer has a descriptor for each thread; the command keeps its limit. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int follow(struct tracer *t, pid_t pid)
{
	struct process *p;
	struct thread *th;
	struct fdtab *fds;

	if (ptrace(PTRACE_SEIZE, pid, 0, OPTIONS) < 0)
		return -errno;
	p = leat_ptrace_process_new(t, pid, getpid());
	th = p ? leat_ptrace_thread_new(t, pid) : NULL;
	fds = th ? leat_fdtab_new() : NULL;
	if (!fds)
		return -ENOMEM;
	leat_ptrace_thread_join(th, p, fds);
	t->command = pid;
	return 0;
}

int leat_ptrace_start(struct tracer *t, int *error_fd)
{
	int go[2] = {-1, -1}, error[2] = {-1, -1}, rc = 0;
	pid_t pid = -1;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		rc = -errno;
	else if ((pid = fork()) < 0)
		rc = -errno;
	if (pid == 0) {
		/* Else the end of the parent would not be seen. */
		close(go[1]);
		become(t->request->argv, go[0], error[1]);
	}
	if (!rc)
		rc = follow(t, pid);
	if (!rc)
		rc = leat_write_all(go[1], "", 1);
	raise_limit();
	leat_close(&go[0]);
	leat_close(&go[1]);
	leat_close(&error[1]);
	if (!rc) {
		*error_fd = error[0];
		return 0;
	}
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	leat_close(&error[0]);
	leat_error("cannot start %s under ptrace: %s", t->request->argv[0], strerror(-rc));
	return rc;
}
