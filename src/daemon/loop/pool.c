/* libuv ends the process if it cannot start the threads of its pool: they are started at the
 * beginning, after a look whether they can be. */
#include "base/nproc.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of UV_THREADPOOL_SIZE: docs.libuv.org, "Thread pool work scheduling". */
enum { THREADS = 4, MOST_THREADS = 1024 };

static unsigned count_threads(void)
{
	const char *asked = getenv("UV_THREADPOOL_SIZE");
	int n = asked ? atoi(asked) : THREADS;

	return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

/* All of them must be there at the same time. */
static void *hold(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static int try_threads(void)
{
	unsigned wanted = count_threads(), n = 0;
	pthread_t *threads = calloc(wanted, sizeof(*threads));
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	int rc = threads ? 0 : ENOMEM;

	pthread_mutex_lock(&gate);
	while (!rc && n < wanted) {
		rc = pthread_create(&threads[n], NULL, hold, &gate);
		n += !rc;
	}
	pthread_mutex_unlock(&gate);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	free(threads);
	return -rc;
}

static void nothing(uv_work_t *work)
{
	(void)work;
}

/* Signals are the loop's: one that told the daemon to end while it ends, when the loop and its
 * handlers are gone, would be delivered to a thread that does not block it, and leave half of the
 * session behind. */
static int start_threads(struct leat_daemon *d)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = uv_queue_work(&d->loop, &d->handles->first_work, nothing, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int leat_pool_start(struct leat_daemon *d, char *error, size_t error_size)
{
	int rc = try_threads();
	char *limit = rc == -EAGAIN ? leat_nproc_limit() : NULL;

	if (rc)
		snprintf(error, error_size, "cannot start the daemon's threads: %s%s%s",
			 strerror(-rc), limit ? ": " : "", limit ? limit : "");
	free(limit);
	return rc ? rc : start_threads(d);
}
