#include "cli/daemon.h"
#include "cli/command.h"
#include "cli/nested.h"

#include "base/confine.h"
#include "base/fd.h"
#include "base/log.h"
#include "daemon/daemon.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the daemon has to end, once asked to; as long as it works it is given more, so often at
 * most: it may have many files to remove. */
#define ASKED_MS 5000
#define MOST_TIMES 24u

static int spawn(struct leat_cli_daemon *daemon, const struct leat_args *args,
		 const struct leat_cli_workflow *w, bool serve)
{
	struct leat_daemon_options options = {
		.wf = w->wf,
		.dir = w->dir,
		.runtime_dir = daemon->runtime_dir,
		.log_path = leat_args_text(args, "log"),
		.spill_dir = leat_args_text(args, "spill-dir"),
		.memory_bytes = leat_args_size_bytes(args, "memory"),
		.serve = serve,
		.strict = leat_args_flag(args, "strict"),
		.enforce = leat_cli_enforces(args),
		.sealed = leat_args_flag(args, "sealed"),
		.warn_violations = leat_cli_warns(args),
	};
	char error[512] = "";
	int result = leat_daemon_spawn(&options, &daemon->pid, error, sizeof(error));

	if (result < 0) {
		daemon->pid = 0;
		leat_error("%s", *error ? error : strerror(-result));
	}
	return result;
}

bool leat_cli_warns(const struct leat_args *args)
{
	return strcmp(leat_args_text(args, "on-violation"), "warn") == 0;
}

bool leat_cli_enforces(const struct leat_args *args)
{
	return leat_args_flag(args, "enforce") || leat_args_flag(args, "sealed");
}

bool leat_cli_enforceable(const struct leat_args *args, const struct leat_workflow *wf)
{
	if (leat_args_flag(args, "sealed") && !leat_confine_can_seal()) {
		leat_error("--sealed needs a kernel with Landlock (Linux 5.19, CONFIG_LSM with "
			   "landlock); --enforce does without");
		return false;
	}
	for (size_t i = 0; leat_cli_enforces(args) && i < wf->n_steps; i++)
		if (wf->steps[i].staged) {
			leat_error("--enforce cannot hold step %s: it is staged, and runs unseen; "
				   "take `staged: true` away, or do without --enforce",
				   wf->steps[i].name);
			return false;
		}
	return true;
}

int leat_cli_daemon_start(struct leat_cli_daemon *daemon, const struct leat_args *args,
			  const struct leat_cli_workflow *w, bool serve)
{
	int result;

	*daemon = (struct leat_cli_daemon){0};
	if (leat_cli_is_taken(w->dir) || !leat_cli_runtime_dir(args, &daemon->runtime_dir) ||
	    spawn(daemon, args, w, serve) < 0)
		return LEAT_EXIT_SELF;
	result = leat_control_open(daemon->runtime_dir, w->dir, w->wf->name,
				   LEAT_CONTROL | LEAT_CONTROL_EVENTS, &daemon->control);
	if (result < 0) {
		leat_error("cannot talk to the daemon of this run: %s", strerror(-result));
		return LEAT_EXIT_SELF;
	}
	if (leat_segment_open(&daemon->segment, daemon->control, w->wf->n_steps) < 0)
		return LEAT_EXIT_SELF;
	daemon->watched = (struct leat_listen_run){daemon->runtime_dir, w->dir};
	return leat_listen_begin(args, leat_listen_run, &daemon->watched, &daemon->listen);
}

/* Somebody else may have reaped it: that is as good as an end. */
static bool has_ended_within(pid_t pid, int pidfd, int ms)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	while (poll(&fd, 1, ms) < 0 && errno == EINTR)
		;
	return waitpid(pid, NULL, WNOHANG) != 0;
}

/* Has it had a processor since `busy`, which becomes the time it has had by now? */
static bool has_worked(pid_t pid, struct timespec *busy)
{
	struct timespec before = *busy;
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, busy) == 0 &&
	       (busy->tv_sec != before.tv_sec || busy->tv_nsec != before.tv_nsec);
}

/* It ends by itself, once asked to or left alone; but nothing of it may stay. */
static void await_end(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct timespec busy = {0};

	if (pidfd < 0 && errno == ESRCH)
		return; /* reaped */
	for (unsigned i = 0; !has_ended_within(pid, pidfd, ASKED_MS); i++) {
		bool works = has_worked(pid, &busy);

		if (!i)
			kill(pid, SIGTERM);
		else if (!works || i >= MOST_TIMES)
			kill(pid, SIGKILL);
	}
	leat_close(&pidfd);
}

void leat_cli_daemon_end(struct leat_cli_daemon *daemon)
{
	pid_t pid = daemon->pid;

	leat_listen_end(daemon->listen);
	leat_segment_close(&daemon->segment);
	leat_control_close(daemon->control);
	free(daemon->runtime_dir);
	*daemon = (struct leat_cli_daemon){0};
	if (pid > 0)
		await_end(pid);
}
