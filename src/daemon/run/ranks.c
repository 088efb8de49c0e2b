/* Which process of an MPI job a client is, by the environment that its launcher gave it. */
#include "daemon/run/ranks.h"

#include "base/pidstat.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/run/mpi.h"
#include "daemon/run/run.h"
#include "model/version.h"

#include <errno.h>
#include <stdlib.h>

long leat_rank_find(struct leat_conn *c)
{
	if (!c->has_rank) {
		c->rank = leat_mpi_rank(c->pid);
		c->has_rank = true;
	}
	return c->rank;
}

unsigned leat_rank_of(struct leat_conn *c)
{
	long rank = leat_rank_find(c);

	return rank > 0 ? (unsigned)rank : 0;
}

int leat_rank_check(struct leat_conn *c, const char *name, const char *what)
{
	unsigned writers = c->step >= 0 ? c->d->wf->steps[c->step].nwriters : 0;
	char title[LEAT_VERSION_TITLE];

	if (!writers || leat_rank_of(c) < writers)
		return 0;
	leat_problem_add(c->d, -EACCES,
			 "rank %u of step %s opens %s %s, but only its ranks below %u do I/O "
			 "(nwriters): raise nwriters, or leave it out",
			 leat_rank_of(c), c->d->wf->steps[c->step].name,
			 leat_version_title(name, title), what, writers);
	return -EACCES;
}

/* The first process of the rank, which the launcher has started. It may be one that never speaks to
 * us, like a shell that only starts others. */
static pid_t first_of(const struct leat_conn *c, long rank, uint64_t *born)
{
	pid_t first = c->pid, root = c->d->steps[c->step].pid;
	struct leat_pidstat now;

	while (leat_pidstat_read(first, &now)) {
		*born = now.born;
		if (first == root || now.parent <= 1 || leat_mpi_rank(now.parent) != rank)
			return first;
		first = now.parent;
	}
	return c->pid;
}

void leat_rank_came(struct leat_conn *c)
{
	struct leat_proc *p = c->proc;

	if (!c->d->has_views || c->d->wf->steps[c->step].nprocs <= 1)
		return;
	p->rank = leat_rank_find(c);
	if (p->rank >= 0)
		p->rank_first = first_of(c, p->rank, &p->rank_born);
}

/* A rank of which only its first process is left, which has never spoken to us. */
struct leat_rank_wait {
	int step;
	long rank;
	pid_t first;
	uint64_t born;
	struct leat_rank_wait *next;
};

static bool lives(pid_t pid, uint64_t born)
{
	struct leat_pidstat now;

	return leat_pidstat_read(pid, &now) && now.born == born && !now.exiting && now.state != 'Z';
}

/* Has it a process that we know, beside `p`? */
static bool is_known(const struct leat_daemon *d, int step, long rank, const struct leat_proc *p)
{
	const struct leat_proc *q;

	for (q = d->procs; q; q = q->hh.next)
		if (q != p && !q->gone && q->step == step && q->rank == rank)
			return true;
	return false;
}

/* Out of memory: the rank holds others up until its step ends. */
static void wait_for_first(const struct leat_proc *p)
{
	struct leat_rank_wait *w;

	LL_FOREACH(p->d->run->rank_waits, w)
	if (w->first == p->rank_first && w->born == p->rank_born)
		return;
	w = calloc(1, sizeof(*w));
	if (!w)
		return;
	*w = (struct leat_rank_wait){p->step, p->rank, p->rank_first, p->rank_born, NULL};
	LL_PREPEND(p->d->run->rank_waits, w);
}

unsigned leat_rank_left(const struct leat_proc *p)
{
	if (p->rank < 0 || is_known(p->d, p->step, p->rank, p))
		return 0;
	if (p->rank_first == p->pid || !lives(p->rank_first, p->rank_born))
		return 1 + (unsigned)p->rank;
	wait_for_first(p);
	return 0;
}

void leat_ranks_look(struct leat_daemon *d)
{
	struct leat_rank_wait *w, *next;

	LL_FOREACH_SAFE(d->run->rank_waits, w, next)
	{
		if (lives(w->first, w->born))
			continue;
		/* Else the last of them will. */
		if (!is_known(d, w->step, w->rank, NULL))
			leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_PROC_EXIT,
								 .step = w->step,
								 .pid = w->first,
								 .code = 1 + (unsigned)w->rank});
		LL_DELETE(d->run->rank_waits, w);
		free(w);
	}
}

void leat_ranks_free(struct leat_daemon *d)
{
	struct leat_rank_wait *w, *next;

	LL_FOREACH_SAFE(d->run->rank_waits, w, next)
	free(w);
	d->run->rank_waits = NULL;
}
