/* leat trace --tracer preload: the interception library records its own calls. */
#include "trace/tracer.h"

#include "base/installed.h"
#include "base/log.h"
#include "base/str.h"
#include "trace/preload/internal.h"
#include "trace/preload/launch.h"
#include "trace/preload/programs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct run {
	const struct leat_trace_request *request;
	struct leat_trace_session session;
	pid_t command;
	bool has_ended; /* the command */
	bool reported;  /* to end */
	int status;
};

static int check_usable(const struct leat_trace_request *request, char *why, size_t size)
{
	const char *obstacle;
	char *path;

#ifndef __x86_64__
	snprintf(why, size, "preload needs an x86-64 processor; use --tracer ptrace");
	return -ENOTSUP;
#endif
	if (!request->argv) {
		snprintf(why, size,
			 "preload traces a command only, not what runs already; use --tracer ebpf");
		return -ENOTSUP;
	}
	if (request->filter.n_pids) {
		snprintf(why, size, "preload cannot trace processes that run already");
		return -ENOTSUP;
	}
	path = leat_find_library();
	if (!path) {
		snprintf(why, size,
			 "libleat.so was not found beside leat; set LEAT_LIBRARY to its path");
		return -ENOENT;
	}
	free(path);
	path = leat_trace_find_program(request->argv[0]);
	obstacle = path ? leat_trace_program_obstacle(path) : NULL;
	free(path);
	if (!obstacle)
		return 0;
	snprintf(why, size, "%s cannot load libleat.so: %s; use --tracer ptrace", request->argv[0],
		 obstacle);
	return -ENOTSUP;
}

/* Descendants whose parent has died come to us; false: there are no more at all. */
static bool reap(struct run *r)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		leat_trace_processes_reaped(r->session.processes, pid, status);
		if (pid != r->command)
			continue;
		r->status = status;
		r->has_ended = true;
	}
	return pid == 0 || errno != ECHILD;
}

/* Asked to come to an end: the command first. What it leaves behind runs on, untraced. */
static bool is_stopped(struct run *r)
{
	if (!r->request->stop || !*r->request->stop)
		return false;
	if (!r->reported && !r->has_ended)
		kill(r->command, SIGTERM);
	r->reported = true;
	return r->has_ended;
}

static void follow(struct run *r)
{
	bool more = true;

	while (more && !is_stopped(r)) {
		uint64_t taken = leat_trace_session_round(&r->session);

		more = reap(r);
		if (more)
			leat_trace_session_sleep(taken);
	}
	leat_trace_session_finish(&r->session);
}

static int run(const struct leat_trace_request *request, int *status)
{
	struct run r = {.request = request};
	struct leat_trace_launch launch = {.argv = request->argv};
	int rc = leat_trace_session_init(&r.session, request);

	if (!rc) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		launch.tracebuf_fd = r.session.tracebuf_fd;
		rc = leat_trace_launch(&launch, &r.command);
	}
	if (!rc) {
		follow(&r);
		*status = r.status;
		rc = r.session.emitter.sink.error;
	}
	/* There was no command to be traced: as a shell says it. */
	if (rc == -ENOENT || rc == -EACCES) {
		*status = (rc == -ENOENT ? 127 : 126) << 8;
		rc = 0;
	}
	leat_trace_launch_end(&launch);
	leat_trace_session_release(&r.session);
	return rc;
}

const struct leat_tracer leat_tracer_preload = {
	.name = "preload",
	.summary = "a library in every program records its calls: no rights needed, cheap; not for "
		   "static programs",
	.usable = check_usable,
	.run = run,
};
