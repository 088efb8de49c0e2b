#include "base/fd.h"
#include "base/log.h"
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Can a child be traced, and its calls be asked for? 0 or -errno. */
static int try_child(void)
{
	char buffer[128];
	int status, rc = 0;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		for (;;)
			pause();
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0 ||
	    waitpid(pid, &status, __WALL) < 0 ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(buffer), buffer) < 0)
		rc = -errno;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		;
	return rc;
}

static int check_usable(const struct leat_trace_request *request, char *why, size_t size)
{
	uint32_t action = SECCOMP_RET_TRACE;
	int rc;

	if (!request->argv && !request->filter.n_pids) {
		snprintf(why, size,
			 "ptrace traces a command, or processes named with --pid, not the "
			 "whole system (ebpf does)");
		return -ENOTSUP;
	}
	if (request->overlay) {
		snprintf(why, size, "--overlay is for the fuse tracer");
		return -ENOTSUP;
	}
	if (request->argv && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0) {
		rc = -errno;
		snprintf(why, size, "this kernel has no seccomp filters (%s)", strerror(-rc));
		return rc;
	}
	rc = try_child();
	if (rc == -EIO)
		snprintf(why, size,
			 "this kernel does not report which call a process makes "
			 "(PTRACE_GET_SYSCALL_INFO; it needs Linux 5.3)");
	else if (rc)
		snprintf(why, size,
			 "processes cannot be traced here: %s (look at "
			 "/proc/sys/kernel/yama/ptrace_scope and at the container's "
			 "seccomp profile)",
			 strerror(-rc));
	return rc;
}

static void report_not_executed(const struct leat_trace_request *request, int error_fd)
{
	int32_t code;

	if (leat_read_all(error_fd, &code, sizeof(code)) != sizeof(code))
		return;
	if (code < 0)
		leat_error("cannot install the seccomp filter for %s: %s", request->argv[0],
			   strerror(-code));
	else
		leat_error("cannot execute %s: %s", request->argv[0], strerror(code));
}

static void release(struct tracer *t)
{
	struct thread *th, *next_th;
	struct process *p, *next_p;

	HASH_ITER(hh, t->threads, th, next_th)
	leat_ptrace_thread_free(t, th);
	HASH_ITER(hh, t->processes, p, next_p)
	{
		HASH_DEL(t->processes, p);
		free(p);
	}
	leat_inodes_release(&t->inodes);
	leat_trace_who_free(t->who);
	free(t);
}

static int run(const struct leat_trace_request *request, int *status)
{
	struct tracer *t = calloc(1, sizeof(*t));
	int error_fd = -1, rc = t ? 0 : -ENOMEM;

	if (t) {
		t->request = request;
		leat_trace_sink_init(&t->sink, request);
		leat_ptrace_together_init(t);
		t->who = leat_trace_who_new(&t->sink);
		rc = t->who ? 0 : -ENOMEM;
	}
	if (rc) {
		leat_error("out of memory");
		free(t);
		return rc;
	}
	for (uint64_t nr = 0; nr < LEAT_PTRACE_MAX_CALL; nr++)
		t->calls[nr] = leat_ptrace_find_call(nr);
	rc = request->argv ? leat_ptrace_start(t, &error_fd) : leat_ptrace_attach(t);
	if (!rc)
		rc = leat_ptrace_loop(t);
	if (!rc && error_fd >= 0)
		report_not_executed(request, error_fd);
	leat_close(&error_fd);
	*status = t->status;
	if (!rc)
		rc = t->sink.error;
	release(t);
	return rc;
}

const struct leat_tracer leat_tracer_ptrace = {
	.name = "ptrace",
	.summary =
		"every program, also static ones; no rights needed; each call on files costs some "
		"microseconds",
	.usable = check_usable,
	.run = run,
};
