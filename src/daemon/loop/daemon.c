#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/nproc.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/session.h"
#include "daemon/core/steps.h"
#include "daemon/daemon.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/former.h"
#include "daemon/files/persist.h"
#include "daemon/files/private.h"
#include "daemon/files/times.h"
#include "daemon/loop/loop.h"
#include "daemon/ops/alias.h"
#include "daemon/ops/auth_token.h"
#include "daemon/ops/dir_looks.h"
#include "daemon/ops/dir_rights.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/ops.h"
#include "daemon/run/actions.h"
#include "daemon/run/ending.h"
#include "daemon/run/finish.h"
#include "daemon/run/glimpses.h"
#include "daemon/run/ranks.h"
#include "daemon/run/run.h"
#include "daemon/run/steps.h"
#include "daemon/run/unseen.h"
#include "daemon/space/fit.h"
#include "daemon/space/memory_limits.h"
#include "daemon/space/space.h"
#include "daemon/space/spill_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child reports to its parent that it is ready: one packet. */
struct ready {
	int32_t rc;
	char error[480];
};

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	leat_finish_abort(handle->data, "the daemon was told to end");
}

static int start_signals(struct leat_daemon *d)
{
	int rc = uv_signal_init(&d->loop, &d->handles->on_term);

	if (!rc)
		rc = uv_signal_init(&d->loop, &d->handles->on_int);
	d->handles->on_term.data = d->handles->on_int.data = d;
	if (!rc)
		rc = uv_signal_start(&d->handles->on_term, on_signal, SIGTERM);
	return rc ? rc : uv_signal_start(&d->handles->on_int, on_signal, SIGINT);
}

/* Each file that is being written may need a descriptor here. */
static void raise_limits(void)
{
	static const int ours[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA};
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (getrlimit(ours[i], &limit) == 0) {
			limit.rlim_cur = limit.rlim_max;
			setrlimit(ours[i], &limit);
		}
	signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error */
}

/* What the limits that the daemon was given have to do with its not starting. */
static const char *remedy(int error)
{
	switch (-error) {
	case EFBIG:
		return ": ulimit -f (file size) is too low for what leat shares with the programs, "
		       "and for what the steps write: raise it";
	case ENOMEM:
		return ": raise ulimit -v (address space) by 512 MB";
	case EMFILE:
		return ": raise ulimit -n (open files)";
	default:
		return "";
	}
}

static int open_dir(struct leat_daemon *d, char *error, size_t error_size)
{
	const char *dir = d->options.dir;

	if (!realpath(dir, d->dir)) {
		snprintf(error, error_size, "%s: %s", dir, strerror(errno));
		return -errno;
	}
	d->disk_fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->disk_fd < 0 || faccessat(d->disk_fd, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		snprintf(error, error_size,
			 "%s: %s: the workflow's directory must be one you can write to", dir,
			 strerror(errno));
		return -errno;
	}
	if (strcmp(d->dir, "/") == 0) {
		snprintf(error, error_size, "/: the workflow's directory cannot be the root");
		return -EINVAL;
	}
	return 0;
}

static int open_store(struct leat_daemon *d, char *error, size_t error_size)
{
	int rc;

	leat_limits_init(&d->space->limits, d->options.memory_bytes);
	rc = leat_store_create(d->session.store, d->space->limits.budget.most_bytes, &d->store);

	if (!rc)
		rc = leat_store_mirror(d->store, d->disk_fd);
	if (!rc)
		rc = leat_shm_create(&d->shm_fd, &d->shm);
	if (rc) {
		snprintf(error, error_size, "cannot make the store: %s", strerror(-rc));
		return rc;
	}
	d->shm->n_steps = (uint32_t)d->wf->n_steps;
	for (size_t i = 0; i < d->wf->n_steps; i++)
		d->shm->limits[i].rate = d->wf->steps[i].needs.limit_mbps * UINT64_C(1000000);
	if (d->options.enforce)
		d->shm->enforced = d->options.sealed ? LEAT_SEALED : LEAT_ENFORCED;
	snprintf(d->exec_path, sizeof(d->exec_path), "/proc/%d/fd/%d", (int)getpid(),
		 leat_store_fd(d->store));
	d->tree = leat_tree_new(leat_store_fd(d->store), leat_store_path(d->store), d->disk_fd,
				d->dir);
	if (!d->tree)
		return -ENOMEM;
	leat_tree_set_shm(d->tree, d->shm);
	leat_private_init(d);
	rc = leat_spill_init(d, error, error_size);
	if (!rc)
		leat_space_fit(d);
	return rc ? rc : leat_steps_init(d);
}

static int start_loop(struct leat_daemon *d)
{
	int rc = leat_listener_start(d);

	leat_endings_init(d);
	if (!rc)
		rc = leat_descriptions_init(d);
	if (!rc)
		rc = start_signals(d);
	return rc ? rc : leat_clock_start(d);
}

static int init(struct leat_daemon *d, char *error, size_t error_size)
{
	int rc = -EINVAL;

	_Static_assert(LEAT_MAX_STEPS == LEAT_SHM_MAX_STEPS, "what the segment has space for");
	if (d->wf->n_steps > LEAT_SHM_MAX_STEPS) {
		snprintf(error, error_size, "%s: more than %u steps", d->wf->path,
			 LEAT_SHM_MAX_STEPS);
		return rc;
	}
	rc = open_dir(d, error, error_size);
	if (!rc)
		rc = leat_session_open(&d->session, d->options.runtime_dir, d->dir,
				       d->driver ? d->driver : getpid(), error, error_size);
	LEAT_FAULT("start.session");
	if (!rc)
		rc = open_store(d, error, error_size);
	LEAT_FAULT("start.store");
	if (!rc)
		rc = leat_unseen_init(d);
	if (!rc)
		rc = leat_pool_start(d, error, error_size);
	if (!rc)
		rc = leat_events_init(d, &leat_daemon_decisions, error, error_size);
	if (!rc)
		rc = leat_session_listen(&d->session, error, error_size);
	if (!rc)
		rc = start_loop(d);
	LEAT_FAULT("start.listens");
	if (!rc)
		leat_alias_warn(d);
	if (rc && !*error)
		snprintf(error, error_size, "cannot start: %s", strerror(-rc));
	if (rc)
		strncat(error, remedy(rc), error_size - strlen(error) - 1);
	return rc;
}

static void close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* Told to end while it ends, it would leave half of it behind: its handlers go with the loop. */
static void end_undisturbed(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* In reverse order of init; whatever init did not come to is not there. */
static void fini(struct leat_daemon *d)
{
	end_undisturbed();
	if (d->shm)
		leat_shm_shut(d->shm, d->files->n_slots);
	leat_listener_stop(d);
	uv_walk(&d->loop, close_handle, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_loop_close(&d->loop);
	leat_actions_free(d);
	leat_ranks_free(d);
	leat_catalogs_free(d);
	leat_dir_looks_free(d);
	leat_dir_rights_free(d);
	leat_glimpses_free(d);
	leat_descriptions_free(d);
	leat_files_persist_free(d);
	leat_times_free(d);
	leat_formers_free(d);
	leat_files_free(d);
	leat_events_release(d);
	leat_problems_free(d);
	leat_enforce_free(d);
	leat_auth_tokens_free(d);
	if (d->steps)
		leat_steps_free(d);
	LEAT_FAULT("end");
	leat_private_release(d);
	leat_spill_release(d);
	leat_tree_free(d->tree);
	leat_shm_unmap(d->shm);
	leat_close(&d->shm_fd);
	leat_store_destroy(d->store);
	leat_unseen_release(d);
	leat_limits_release(&d->space->limits);
	LEAT_FAULT("end.store");
	leat_session_close(&d->session);
	leat_close(&d->disk_fd);
}

/* Returns rc, or an error when it could not be reported: who waits for the daemon then takes it for
 * dead. */
static int report_ready(int fd, int rc, const char *error)
{
	struct ready r = {.rc = rc};
	bool is_reported;

	snprintf(r.error, sizeof(r.error), "%s", error);
	is_reported = write(fd, &r, sizeof(r)) == (ssize_t)sizeof(r);
	if (!is_reported)
		leat_error("cannot say that the daemon is ready: %s", strerror(errno));
	close(fd);
	return is_reported ? rc : -EIO;
}

/* The daemon, and what each of its parts keeps. */
struct whole {
	struct leat_daemon daemon;
	struct leat_daemon_files files;
	struct leat_daemon_space space;
	struct leat_daemon_run run;
	struct leat_daemon_ops ops;
	struct leat_daemon_handles handles;
};

static void put_together(struct whole *w)
{
	struct leat_daemon *d = &w->daemon;

	d->files = &w->files;
	d->space = &w->space;
	d->run = &w->run;
	d->ops = &w->ops;
	d->handles = &w->handles;
	d->observer = &leat_daemon_observer;
	d->handlers = leat_daemon_handlers;
	d->n_handlers = leat_daemon_n_handlers;
	w->handles.spare_fd = d->disk_fd = d->shm_fd = w->space.fd = w->files.private.fd =
		w->files.aside = d->session.lock_fd = d->session.socket_fd = -1;
}

int leat_daemon_main(const struct leat_daemon_options *options, int ready_fd, pid_t driver)
{
	struct whole *w = calloc(1, sizeof(*w));
	struct leat_daemon *d = w ? &w->daemon : NULL;
	char error[480] = "";
	int rc = -ENOMEM;

	if (!d || uv_loop_init(&d->loop) < 0) {
		report_ready(ready_fd, rc, "out of memory");
		free(w);
		return 1;
	}
	put_together(w);
	d->options = *options;
	d->ops->mounts = leat_auth_token_mounts_of(getpid());
	d->wf = options->wf;
	d->driver = driver;
	d->start_ns = leat_clock_ns();
	clock_gettime(CLOCK_REALTIME_COARSE, &d->start_time);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN); /* leases, see leat_is_open_elsewhere */
	raise_limits();
	LEAT_FAULT_SIDE(environ, "daemon");
	LEAT_FAULT("start");
	rc = init(d, error, sizeof(error));
	rc = report_ready(ready_fd, rc, error);
	if (!rc)
		uv_run(&d->loop, UV_RUN_DEFAULT);
	fini(d);
	free(w);
	return rc ? 1 : 0;
}

/* ---- starting ---- */

static void become_daemon(int ready_fd, pid_t driver)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid();
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	/* What else the parent had open would be kept open: pipes, terminals. */
	if (ready_fd > 3)
		close_range(3, (unsigned)ready_fd - 1, 0);
	close_range((unsigned)ready_fd + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	prctl(PR_SET_NAME, "leat-daemon");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != driver)
		_exit(1);
}

/* It ended without a word. */
static void describe_end(pid_t child, char *error, size_t error_size)
{
	int status = 0;

	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		snprintf(error, error_size,
			 "the daemon ended before it was ready: killed by signal %d (%s)%s",
			 WTERMSIG(status), strsignal(WTERMSIG(status)),
			 WTERMSIG(status) == SIGXFSZ ? remedy(-EFBIG) : "");
	else
		snprintf(error, error_size,
			 "the daemon ended before it was ready, with status %d%s",
			 WEXITSTATUS(status), ": look at the limits of the shell (ulimit -a)");
}

static int wait_ready(int fd, pid_t child, char *error, size_t error_size)
{
	struct ready r;

	if (leat_read_all(fd, &r, sizeof(r)) != (long)sizeof(r)) {
		describe_end(child, error, error_size);
		return -EIO;
	}
	if (r.rc)
		waitpid(child, NULL, 0);
	snprintf(error, error_size, "%.*s", (int)sizeof(r.error), r.error);
	return r.rc;
}

int leat_daemon_spawn(const struct leat_daemon_options *options, pid_t *pid, char *error,
		      size_t error_size)
{
	pid_t driver = getpid(), child;
	int fds[2];
	int rc;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		snprintf(error, error_size, "cannot start the daemon: %s", strerror(errno));
		return -errno;
	}
	child = fork();
	if (child == 0) {
		become_daemon(fds[1], driver);
		_exit(leat_daemon_main(options, fds[1], driver));
	}
	leat_close(&fds[1]);
	if (child < 0) {
		char *limit;

		rc = -errno;
		limit = rc == -EAGAIN ? leat_nproc_limit() : NULL;
		snprintf(error, error_size, "cannot start the daemon: %s%s%s", strerror(-rc),
			 limit ? ": " : "", limit ? limit : "");
		free(limit);
	} else {
		rc = wait_ready(fds[0], child, error, error_size);
		if (!rc)
			*pid = child;
	}
	leat_close(&fds[0]);
	return rc;
}
