#include "mount/guard/kills.h"

#include "base/cgroup.h"
#include "base/fd.h"
#include "base/oom.h"
#include "base/str.h"
#include "mount/callers/caller.h"
#include "mount/daemon/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>

/* One for each such process, and for the thread that waits for its end, which frees it. */
struct watch {
	struct watch *next;
	struct leat_mount *m;
	struct leat_oom oom;
	pid_t process;
	int fd;       /* of the process */
	bool is_over; /* it is not in the list any more */
};

struct leat_kills {
	struct leat_cgroup *own; /* the server's; bypass.c's thread only */
	pthread_mutex_t lock;
	struct watch *all;
};

void leat_kills_begin(struct leat_mount *m)
{
	struct leat_kills *k = calloc(1, sizeof(*k));

	if (!k)
		return;
	pthread_mutex_init(&k->lock, NULL);
	if (leat_cgroup_open("", 0, &k->own) < 0) {
		free(k);
		return;
	}
	m->kills = k;
}

static void free_watch(struct watch *w)
{
	leat_oom_end(&w->oom);
	leat_close(&w->fd);
	free(w);
}

/* ---- its end ---- */

/* The lock is held: whoever takes a watch off the list reports it. */
static void report(struct watch *w)
{
	struct leat_connection *connection;
	char *why = leat_oom_explain(&w->oom), *text = NULL;

	/* Of a group that is gone, those above it would have been asked. */
	if (why && leat_cgroup_exists(w->oom.group))
		text = leat_strf("a process in a container was killed, %s", why);
	if (text && leat_connection_get(w->m, &connection) == 0)
		leat_channel_killed(leat_connection_channel(connection), text);
	free(text);
	free(why);
}

static void *wait_for(void *context)
{
	struct watch *w = context;
	struct leat_kills *k = w->m->kills;
	struct pollfd end = {.fd = w->fd, .events = POLLIN};

	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		continue;
	pthread_mutex_lock(&k->lock);
	if (!w->is_over) {
		LL_DELETE(k->all, w);
		report(w);
	}
	pthread_mutex_unlock(&k->lock);
	free_watch(w);
	return NULL;
}

void leat_kills_end(struct leat_mount *m)
{
	struct leat_kills *k = m->kills;
	struct watch *w, *next;

	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	LL_FOREACH_SAFE(k->all, w, next)
	{
		struct pollfd end = {.fd = w->fd, .events = POLLIN};

		if (poll(&end, 1, 0) > 0)
			report(w);
		LL_DELETE(k->all, w);
		w->is_over = true;
	}
	pthread_mutex_unlock(&k->lock);
}

/* ---- its beginning ---- */

static bool is_watched(struct leat_kills *k, pid_t process)
{
	struct watch *w;

	pthread_mutex_lock(&k->lock);
	LL_SEARCH_SCALAR(k->all, w, process, process);
	pthread_mutex_unlock(&k->lock);
	return w != NULL;
}

/* Takes the group over. */
static void watch(struct leat_mount *m, pid_t process, struct leat_cgroup *group)
{
	struct leat_kills *k = m->kills;
	struct watch *w = malloc(sizeof(*w));
	pthread_t thread;

	if (!w) {
		leat_cgroup_close(group);
		return;
	}
	*w = (struct watch){.m = m, .process = process};
	leat_oom_begin_in(&w->oom, group);
	w->fd = (int)syscall(SYS_pidfd_open, process, 0);
	if (w->fd < 0) {
		free_watch(w);
		return;
	}
	pthread_mutex_lock(&k->lock);
	LL_PREPEND(k->all, w);
	if (pthread_create(&thread, NULL, wait_for, w) == 0) {
		pthread_detach(thread);
	} else {
		LL_DELETE(k->all, w);
		free_watch(w);
	}
	pthread_mutex_unlock(&k->lock);
}

void leat_kills_meet(struct leat_mount *m, pid_t tid)
{
	struct leat_kills *k = m->kills;
	pid_t process = k && tid > 0 ? leat_caller_process(tid) : 0;
	struct leat_cgroup *group;

	if (!process || is_watched(k, process) ||
	    leat_cgroup_open_like(k->own, process, &group) < 0)
		return;
	if (leat_cgroup_shares_memory(k->own, group))
		leat_cgroup_close(group);
	else
		watch(m, process, group);
}
