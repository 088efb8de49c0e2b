#include "daemon/core/processes.h"

#include "base/fd.h"
#include "base/pidstat.h"
#include "base/procstatus.h"
#include "daemon/core/connections.h"
#include "daemon/core/observer.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A process that dies has gone after that. */
#define DEATH_MS 1000

static void on_closed(uv_handle_t *handle)
{
	struct leat_proc *p = handle->data;

	leat_close(&p->pidfd);
	free(p);
}

static void forget(struct leat_proc *p)
{
	struct leat_conn *c, *next;

	DL_FOREACH_SAFE2(p->conns, c, next, proc_next)
	leat_conn_drop(c, NULL);
	HASH_DEL(p->d->procs, p);
	uv_close((uv_handle_t *)&p->poll, on_closed);
}

/* The kernel says it is gone: what it sent comes first, then the closes its end
 * brought about, then the end itself. */
static void gone(struct leat_proc *p)
{
	struct leat_daemon *d = p->d;

	if (p->gone)
		return;
	leat_proc_drain(p);
	p->gone = true;
	/* It may have changed a file and not come to count it. */
	if (!p->exiting)
		leat_shm_change_cut(d->shm);
	if (p->step >= 0)
		d->observer->exited(p);
	forget(p);
}

static void on_end(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	gone(poll->data);
}

static bool has_ended(const struct leat_proc *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

/* The program behind a mount may have had its error, and have ended, before its server that was
 * killed is all gone. What dies is gone soon. */
static void await_death(const struct leat_proc *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
	struct leat_pidstat now;

	if (p->mount && !p->exiting && leat_pidstat_read(p->pid, &now) && now.exiting)
		poll(&fd, 1, DEATH_MS);
}

struct leat_proc *leat_proc_get(struct leat_daemon *d, pid_t pid)
{
	struct leat_proc *p;

	HASH_FIND_INT(d->procs, &pid, p);
	if (p && !has_ended(p))
		return p;
	/* The kernel gave the number to somebody else before we heard. */
	if (p)
		gone(p);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->d = d;
	p->pid = pid;
	p->step = p->rank = -1;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->pidfd < 0 || uv_poll_init(&d->loop, &p->poll, p->pidfd) < 0)
		goto fail;
	p->poll.data = p;
	HASH_ADD_INT(d->procs, pid, p);
	if (!p->hh.tbl) {
		uv_close((uv_handle_t *)&p->poll, on_closed);
		return NULL;
	}
	uv_poll_start(&p->poll, UV_READABLE, on_end);
	return p;
fail:
	leat_close(&p->pidfd); /* errno stays */
	free(p);
	return NULL;
}

/* It closes its files before it is gone. */
static bool is_dying(const struct leat_proc *p)
{
	struct leat_pidstat now;

	return has_ended(p) || (leat_pidstat_read(p->pid, &now) && now.exiting);
}

bool leat_proc_died_beside(const struct leat_proc *p)
{
	struct leat_proc *q, *next;

	HASH_ITER(hh, p->d->procs, q, next)
	{
		if (q == p || q->gone || q->step != p->step || !is_dying(q))
			continue;
		leat_proc_drain(q);
		if (!q->exiting)
			return true;
	}
	return false;
}

bool leat_procs_any_dying(const struct leat_daemon *d, int step)
{
	for (const struct leat_proc *p = d->procs; p; p = p->hh.next)
		if (p->step == step && !p->gone && (has_ended(p) || leat_process_is_dying(p->pid)))
			return true;
	return false;
}

void leat_procs_hear(struct leat_daemon *d, int step)
{
	struct leat_proc *p, *next;

	HASH_ITER(hh, d->procs, p, next)
	if (p->step == step) {
		leat_proc_read_reports(p);
		if (p->exiting && has_ended(p))
			gone(p);
	}
}

void leat_procs_reap(struct leat_daemon *d, int step)
{
	struct leat_proc *p, *next;

	HASH_ITER(hh, d->procs, p, next)
	if (p->step == step) {
		leat_proc_drain(p);
		await_death(p);
		if (has_ended(p))
			gone(p);
	}
}

void leat_procs_free(struct leat_daemon *d)
{
	struct leat_proc *p, *next;

	HASH_ITER(hh, d->procs, p, next)
	forget(p);
}
