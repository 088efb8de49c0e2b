/* The tracer by a FUSE overlay. The main thread waits for processes to end; threads of libfuse
 * answer the kernel until the last of those behind the mount has gone, and the mount with it. */
#include "base/enter.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IDLE_THREADS = 4 };

/* What is covered: the directory given, or the one the command runs in. */
static int find_dir(const struct leat_trace_request *request, char dir[PATH_MAX], char *why,
		    size_t size)
{
	const char *asked = request->overlay ? request->overlay : ".";
	struct stat st;
	int rc = 0;

	if (!realpath(asked, dir) || stat(dir, &st) < 0)
		rc = -errno;
	else if (!S_ISDIR(st.st_mode))
		rc = -ENOTDIR;
	if (rc) {
		snprintf(why, size, "the directory %s cannot be overlaid: %s", asked,
			 strerror(-rc));
		return rc;
	}
	if (strcmp(dir, "/") == 0) {
		snprintf(why, size,
			 "the root directory cannot be overlaid: name the directory whose "
			 "files matter with --overlay");
		return -EINVAL;
	}
	return 0;
}

static int check_usable(const struct leat_trace_request *request, char *why, size_t size)
{
	struct leat_obstacle obstacle;
	char dir[PATH_MAX];
	int rc;

	if (!request->argv || request->filter.n_pids) {
		snprintf(why, size,
			 "a FUSE overlay traces a command that it starts, not processes "
			 "that run already");
		return -ENOTSUP;
	}
	rc = find_dir(request, dir, why, size);
	if (rc)
		return rc;
	rc = leat_enter_try(false, &obstacle);
	if (rc)
		snprintf(why, size, "%s (%s)", obstacle.what, strerror(-rc));
	return rc;
}

static void *answer(void *arg)
{
	struct overlay *o = arg;
	int rc = leat_fuse_loop(o->session, IDLE_THREADS);

	if (rc < 0)
		leat_error("the FUSE connection has failed: %s", strerror(-rc));
	return NULL;
}

/* Signals are for the main thread: a call that a request stands for is not to be cut short. */
static int start_answering(struct overlay *o, pthread_t *thread)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(thread, NULL, answer, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static bool executed(struct overlay *o, int error_fd)
{
	const char *name = o->request->argv[0];
	int32_t code;

	if (leat_read_all(error_fd, &code, sizeof(code)) != sizeof(code))
		return true;
	if (code < 0)
		leat_error("%s cannot be started behind the overlay of %s: %s", name, o->dir,
			   strerror(-code));
	else
		leat_error("cannot execute %s: %s", name, strerror(code));
	return false;
}

/* Until all processes are gone from behind the mount. */
static void follow(struct overlay *o, pthread_t thread)
{
	enum { LOOK_MS = 200, LAST_LOOKS = 10 };
	bool stopped = false;

	while (!o->has_ended || pthread_tryjoin_np(thread, NULL) != 0) {
		people_wait(o, o->has_ended ? 20 : LOOK_MS);
		if (!stopped && o->request->stop && *o->request->stop) {
			people_stop(o);
			stopped = true;
		}
	}
	handles_end(o);
	/* The mount goes before its last process has quite ended. */
	for (int i = 0; people_are_left(o) && i < LAST_LOOKS; i++)
		people_wait(o, LOOK_MS);
}

static int serve(struct overlay *o, int error_fd)
{
	pthread_t thread;
	int rc = start_answering(o, &thread);

	if (rc) {
		leat_error("no thread can be started: %s", strerror(-rc));
		kill(o->command, SIGKILL);
		waitpid(o->command, NULL, 0);
		return rc;
	}
	leat_write_all(o->go_fd, "", 1);
	leat_close(&o->go_fd);
	if (executed(o, error_fd))
		people_begin(o, o->command);
	if (!leat_fuse_has(o->session, LEAT_FUSE_DIRECT_MMAP))
		leat_warn("on this kernel programs cannot map files of %s to share them, which "
			  "untraced they could: that needs Linux 6.6",
			  o->dir);
	follow(o, thread);
	return 0;
}

static int prepare(struct overlay *o, const struct leat_trace_request *request)
{
	char why[PATH_MAX + 256];
	int rc;

	o->request = request;
	o->dir_fd = o->epoll_fd = o->go_fd = -1;
	pthread_mutex_init(&o->lock, NULL);
	leat_trace_sink_init(&o->sink, request);
	o->who = leat_trace_who_new(&o->sink);
	people_init(o);
	rc = find_dir(request, o->dir, why, sizeof(why));
	if (rc) {
		leat_error("%s", why);
		return rc;
	}
	o->dir_fd = open(o->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	o->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (o->dir_fd < 0 || o->epoll_fd < 0)
		rc = -errno;
	else if (!o->who)
		rc = -ENOMEM;
	else
		rc = nodes_init(o);
	if (rc)
		leat_error("the overlay of %s cannot be set up: %s", o->dir, strerror(-rc));
	return rc;
}

static void release(struct overlay *o)
{
	leat_fuse_free(o->session);
	leat_people_release(&o->people);
	nodes_release(o);
	if (o->who)
		leat_trace_who_free(o->who);
	leat_close(&o->dir_fd);
	leat_close(&o->epoll_fd);
	leat_close(&o->go_fd);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

static int run(const struct leat_trace_request *request, int *status)
{
	struct overlay *o = calloc(1, sizeof(*o));
	int error_fd = -1, rc;
	mode_t mask;

	if (!o) {
		leat_error("out of memory");
		return -ENOMEM;
	}
	/* Those whose parents end come to us, so that their ends are known. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rc = prepare(o, request);
	if (!rc)
		rc = start_command(o, &error_fd);
	mask = umask(0); /* the kernel has applied the caller's */
	if (!rc)
		rc = serve(o, error_fd);
	umask(mask);
	leat_close(&error_fd);
	*status = o->status;
	if (!rc)
		rc = o->sink.error;
	release(o);
	return rc;
}

const struct leat_tracer leat_tracer_fuse = {
	.name = "fuse",
	.summary = "one directory, every program, also static ones; needs /dev/fuse and user "
		   "namespaces; each call on its files costs some ten microseconds",
	.usable = check_usable,
	.run = run,
};
