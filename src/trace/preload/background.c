#include "trace/background.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "trace/preload/internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_END_NS (2 * LEAT_SECOND_NS)

struct leat_trace_background {
	struct leat_trace_session session;
	pthread_t thread;
	pthread_mutex_t lock;
	bool ends; /* under the lock */
};

int leat_trace_background_usable(char *why, size_t size)
{
#ifdef __x86_64__
	(void)why;
	(void)size;
	return 0;
#else
	snprintf(why, size, "steps are traced by libleat.so, which needs an x86-64 processor");
	return -ENOTSUP;
#endif
}

static bool is_to_end(struct leat_trace_background *b)
{
	bool ends;

	pthread_mutex_lock(&b->lock);
	ends = b->ends;
	pthread_mutex_unlock(&b->lock);
	return ends;
}

static void *follow(void *context)
{
	struct leat_trace_background *b = context;
	int64_t end_ns;

	while (!is_to_end(b))
		leat_trace_session_sleep(leat_trace_session_round(&b->session));
	/* The server of a mount ends a little later than who was behind it. */
	end_ns = (int64_t)leat_clock_ns() + LONGEST_END_NS;
	while (leat_trace_processes_serve(b->session.processes) &&
	       (int64_t)leat_clock_ns() < end_ns)
		leat_trace_session_sleep(leat_trace_session_round(&b->session));
	leat_trace_session_finish(&b->session);
	return NULL;
}

static int start_thread(struct leat_trace_background *b)
{
	sigset_t all, before;
	int rc;

	/* Signals are for the thread that starts programs. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&b->thread, NULL, follow, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int set_environment(const struct leat_trace_background *b)
{
	char *tracebuf = leat_strf("/proc/%d/fd/%d", (int)getpid(), b->session.tracebuf_fd);
	int rc = !tracebuf ? -ENOMEM : setenv("LEAT_TRACE_BUFFER", tracebuf, 1) < 0 ? -errno : 0;

	free(tracebuf);
	return rc;
}

struct leat_trace_background *leat_trace_background_start(const struct leat_trace_request *request)
{
	struct leat_trace_background *b = calloc(1, sizeof(*b));
	int rc;

	if (!b) {
		leat_error("out of memory");
		return NULL;
	}
	pthread_mutex_init(&b->lock, NULL);
	rc = leat_trace_session_init(&b->session, request);
	if (!rc) {
		rc = set_environment(b);
		if (!rc)
			rc = start_thread(b);
		if (!rc)
			return b;
		leat_error("cannot trace the steps: %s", strerror(-rc));
	}
	leat_trace_session_release(&b->session);
	free(b);
	return NULL;
}

int leat_trace_background_end(struct leat_trace_background *b)
{
	int rc;

	if (!b)
		return 0;
	unsetenv("LEAT_TRACE_BUFFER");
	pthread_mutex_lock(&b->lock);
	b->ends = true;
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	rc = b->session.emitter.sink.error;
	leat_trace_session_release(&b->session);
	pthread_mutex_destroy(&b->lock);
	free(b);
	return rc;
}
