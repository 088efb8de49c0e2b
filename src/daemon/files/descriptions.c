/* Open file descriptions for writing, whose true last close the kernel knows:
 * each holds an OFD lock on a byte of its own (docs/explanation/how-it-works.md). */
#include "daemon/files/descriptions.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/timespec.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/observer.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/former.h"
#include "daemon/files/locks.h"
#include "daemon/files/persist.h"
#include "daemon/files/publish_name.h"
#include "daemon/files/sizes.h"
#include "daemon/files/states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a lock must be missing before nobody's hint is waited for any more:
 * the end of a process is seen by several descriptors, in any order. */
#define GRACE_NS 40000000u
/* A close this close to an abnormal death in the step is taken for a part of it. */
#define DEATH_NS 200000000u
/* The server of a mount hears of the last close a moment after it has reported that a process
 * closes. If it does not, another process has the description, too. */
#define CLOSING_NS 1000000000u

static struct leat_description **list_of(const struct leat_description *l)
{
	return l->reads ? &l->file->readers_open : &l->file->descriptions;
}

static struct leat_description *live_new(struct leat_daemon *d, struct leat_file *f,
					 struct leat_conn *c, bool reads)
{
	struct leat_description *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->reads = reads;
	l->id = ++d->files->last_ofd;
	l->probe = -1;
	HASH_ADD(hh, d->files->descriptions, id, sizeof(l->id), l);
	if (!l->hh.tbl) {
		free(l);
		return NULL;
	}
	l->step = c->step;
	l->pid = c->pid;
	l->file = f;
	l->opener = c;
	c->pending = l;
	DL_APPEND(*list_of(l), l);
	return l;
}

void leat_description_confirm(struct leat_description *l)
{
	if (l->opener)
		l->opener->pending = NULL;
	l->opener = NULL;
}

static void discard(struct leat_daemon *d, struct leat_description *l)
{
	leat_description_confirm(l);
	DL_DELETE(*list_of(l), l);
	HASH_DEL(d->files->descriptions, l);
	leat_close(&l->probe);
	free(l->name);
	free(l);
}

struct leat_description *leat_description_new(struct leat_daemon *d, struct leat_file *f,
					      struct leat_conn *c)
{
	struct leat_description *l = live_new(d, f, c, false);

	if (l)
		leat_shm_file_changed(leat_file_shm(d, f));
	return l;
}

struct leat_description *leat_description_new_reader(struct leat_daemon *d, struct leat_file *f,
						     struct leat_conn *c)
{
	return live_new(d, f, c, true);
}

struct leat_description *leat_description_new_holder(struct leat_daemon *d, struct leat_file *f,
						     struct leat_conn *c, bool writes)
{
	struct leat_description *l = live_new(d, f, c, true);

	if (!l)
		return NULL;
	/* What it reads or writes is not asked for. */
	l->read = true;
	l->holds = leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_HOLD,
							    .step = c->step,
							    .pid = c->pid,
							    .name = f->name,
							    .code = writes,
							    .ofd = l->id}) == 0;
	if (l->holds)
		return l;
	discard(d, l);
	return NULL;
}

/* 0: it has a descriptor, or there is nothing to have one of; else -errno. */
static int hold(struct leat_daemon *d, struct leat_description *l)
{
	struct stat st;
	enum leat_root root;
	int rc;

	if (l->probe < 0 && !l->file->retired)
		l->probe = leat_open_stored(d, l->file);
	if (l->probe >= 0 || l->file->retired)
		return 0;
	rc = leat_tree_look(d->tree, l->file->name, &root, &st);
	if (!rc && S_ISREG(st.st_mode)) {
		rc = leat_open_seen(d, root, leat_tree_fd(d->tree, root), l->file->name);
		l->probe = rc < 0 ? -1 : rc;
		rc = rc < 0 ? rc : 0;
	}
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP ? 0 : rc;
}

void leat_descriptions_hold(struct leat_daemon *d, struct leat_file *f)
{
	struct leat_description *l;
	struct stat st;

	DL_FOREACH(f->descriptions, l)
	hold(d, l);
	DL_FOREACH(f->readers_open, l)
	hold(d, l);
	leat_file_measure(d, f, -1, &st, NULL);
}

struct leat_description *leat_description_unreported(struct leat_daemon *d, struct leat_file *f,
						     struct leat_conn *c, int fd)
{
	struct leat_description *l = leat_is_written(fd) ? leat_description_new(d, f, c) : NULL;

	if (!l) {
		leat_close(&fd);
		return NULL;
	}
	leat_description_confirm(l);
	l->unreported = true;
	l->probe = fd;
	return l;
}

static int look_for_lock(struct leat_daemon *d, struct leat_description *l)
{
	int rc = l->file->former ? leat_former_has_lock(l->file, l->id) : 0;

	if (!rc)
		rc = hold(d, l);
	if (rc || l->probe < 0)
		return rc;
	return l->unreported ? leat_is_written(l->probe)
			     : leat_is_locked(l->probe, LEAT_OFD_LOCK + l->id);
}

/* In doubt yes: what is taken for closed is passed on as complete. */
static bool has_lock(struct leat_daemon *d, struct leat_description *l)
{
	int rc = look_for_lock(d, l);

	if (rc < 0 && !l->doubted) {
		l->doubted = true;
		leat_problem_add(d, rc, "cannot see whether %s is still open: %s", l->file->name,
				 strerror(-rc));
	}
	return rc != 0;
}

static bool is_open(struct leat_daemon *d, struct leat_description *l)
{
	return l->opener || has_lock(d, l);
}

bool leat_descriptions_settled(struct leat_daemon *d, struct leat_file *f)
{
	struct leat_description *l;

	DL_FOREACH(f->descriptions, l)
	if (l->opener && !has_lock(d, l))
		return false;
	return true;
}

void leat_descriptions_moved(struct leat_file *f)
{
	struct leat_description *l;

	DL_FOREACH(f->descriptions, l)
	leat_close(&l->probe);
	DL_FOREACH(f->readers_open, l)
	leat_close(&l->probe);
}

/* A consumer that only opened for writing did no harm. */
static void judge_foreign(struct leat_daemon *d, const struct leat_description *l,
			  const struct stat *st)
{
	/* Times may be set without a write: touch does. */
	if (!l->foreign || l->intact || leat_timespec_is_same(st->st_mtim, l->mtime))
		return;
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
						 .step = l->step,
						 .pid = l->pid,
						 .name = l->file->name,
						 .code = LEAT_VIOLATION_UNDECLARED});
}

/* Of several that a step has left behind one may be stopped before it has written all, and another
 * close the file. */
static bool is_stopped(const struct leat_daemon *d, const struct leat_description *l)
{
	return d->is_cut_off && l->step >= 0 && !d->steps[l->step].running;
}

/* Steps with actions give their files names. */
static void report_closed(struct leat_daemon *d, const struct leat_description *l, bool abnormal)
{
	if (l->name)
		d->observer->closed(d, l, abnormal);
}

static void closed(struct leat_daemon *d, struct leat_description *l, bool abnormal)
{
	struct leat_file *f = l->file;
	bool was_committed = leat_shm_flags(leat_file_shm(d, f)) & LEAT_SHM_COMMITTED;
	struct stat st = {0};

	LEAT_FAULT("closed");
	if (l->reads) {
		if (l->counted || l->holds)
			leat_events_apply(d, (struct leat_event){.kind = l->holds ? LEAT_EV_LET_GO
										  : LEAT_EV_RETURN,
								 .step = l->step,
								 .pid = l->pid,
								 .ofd = l->id});
		report_closed(d, l, abnormal);
		discard(d, l);
		return;
	}
	leat_file_sync_frontier(d, f);
	if (f->descriptions == l && !l->next)
		leat_file_settle_closed(d, f, l->probe);
	if (l->probe >= 0 && leat_file_measure(d, f, l->probe, &st, NULL) == 0) {
		f->measured = true;
		judge_foreign(d, l, &st);
	}
	if (l->counted)
		leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_CLOSE,
							 .step = l->step,
							 .pid = l->pid,
							 .ofd = l->id,
							 .length = f->size,
							 .flags = abnormal || is_stopped(d, l)
									  ? LEAT_EVF_ABNORMAL
									  : 0});
	f->measured = false;
	report_closed(d, l, abnormal || is_stopped(d, l));
	discard(d, l);
	if (f->descriptions)
		return;
	leat_file_publish_name(d, f, &st);
	/* What was written after the commit counts for the copy on disk. */
	leat_file_finish_loose(d, f);
	if (f->retired)
		leat_shm_file_finish(leat_file_shm(d, f), f->size);
	else if (was_committed)
		leat_file_refresh(d, f, LEAT_FILE_COMMITTED);
	else if (f->keep)
		leat_file_persist(d, f);
}

/* Closes the descriptions that have ended, once the messages are read that their processes had sent
 * before, perhaps by another connection: that a version was read, or a file changed. Those that end
 * by these messages have their turn later. */
static void close_ended(uv_check_t *check)
{
	struct leat_daemon *d = check->data;
	struct leat_description *l, *next_live;
	struct leat_proc *p, *next;

	uv_check_stop(check);
	for (l = d->files->descriptions; l; l = l->hh.next)
		l->is_due = l->ended;
	HASH_ITER(hh, d->procs, p, next)
	leat_proc_read_reports(p);
	HASH_ITER(hh, d->files->descriptions, l, next_live)
	if (l->is_due)
		closed(d, l, l->abnormal);
}

static void ended(struct leat_daemon *d, struct leat_description *l, bool abnormal)
{
	if (l->reads ? l->read : !l->intact) {
		closed(d, l, abnormal);
		return;
	}
	l->ended = true;
	l->abnormal |= abnormal;
	uv_check_start(&d->files->ended, close_ended);
}

void leat_descriptions_close_ended(struct leat_daemon *d)
{
	if (uv_is_active((uv_handle_t *)&d->files->ended))
		close_ended(&d->files->ended);
}

int leat_descriptions_init(struct leat_daemon *d)
{
	d->files->ended.data = d;
	return uv_check_init(&d->loop, &d->files->ended);
}

void leat_description_failed(struct leat_daemon *d, struct leat_description *l)
{
	struct leat_file *f = l->file;
	bool counted = l->counted;

	leat_description_confirm(l);
	hold(d, l);
	closed(d, l, true);
	if (counted && !f->retired && f->made &&
	    leat_tree_look(d->tree, f->name, &(enum leat_root){0}, NULL) == -ENOENT) {
		f->made = f->reported = false;
		leat_events_apply(d, (struct leat_event){
					     .kind = LEAT_EV_UNLINK, .step = -1, .name = f->name});
	}
}

/* Have others than `c` had a description that is gone now, and died? Its opener's own close needs
 * no look. */
static bool died_after(const struct leat_conn *c, const struct leat_file *f, uint64_t id)
{
	struct leat_description *l;

	DL_FOREACH(f->descriptions, l)
	if ((!id || l->id == id) && l->pid != c->pid && !is_open(c->d, l))
		return c->proc && leat_proc_died_beside(c->proc);
	return false;
}

void leat_descriptions_hint(struct leat_conn *c, struct leat_file *f, uint64_t id, bool abnormal)
{
	struct leat_daemon *d = c->d;
	struct leat_description *l, *next;

	DL_FOREACH_SAFE(f->readers_open, l, next)
	if ((!id || l->id == id) && !is_open(d, l))
		ended(d, l, false);
	abnormal = abnormal || died_after(c, f, id);
	DL_FOREACH_SAFE(f->descriptions, l, next)
	{
		if (id && l->id != id)
			continue;
		if (!is_open(d, l))
			ended(d, l, abnormal);
		else if (id && l->pid == c->pid)
			l->handed_on = true;
	}
}

void leat_description_closing(struct leat_conn *c, struct leat_file *f, uint64_t id)
{
	struct leat_description *l;

	DL_SEARCH_SCALAR(f->descriptions, l, id, id);
	if (l && l->pid == c->pid && !l->closing_ns)
		l->closing_ns = leat_clock_ns();
}

/* Whether it can still be the process that opened it which closes it. */
static bool opener_lives(struct leat_daemon *d, const struct leat_description *l)
{
	struct leat_proc *p;

	HASH_FIND_INT(d->procs, &l->pid, p);
	return p && !p->gone && !l->handed_on;
}

/* Those of other live processes are theirs to end: the end of `p` says nothing of how they were
 * closed. */
static bool ended_with(struct leat_daemon *d, struct leat_description *l, const struct leat_proc *p)
{
	return l->step == p->step && !opener_lives(d, l) && !is_open(d, l);
}

void leat_descriptions_after_exit(struct leat_daemon *d, const struct leat_proc *p)
{
	struct leat_description *l, *next;
	bool abnormal;

	for (l = d->files->descriptions; l && !ended_with(d, l, p); l = l->hh.next)
		;
	if (!l)
		return;
	/* Of two that ended at the same time, who had it open last is not known. */
	abnormal = !p->exiting || leat_proc_died_beside(p);
	HASH_ITER(hh, d->files->descriptions, l, next)
	if (ended_with(d, l, p))
		ended(d, l, abnormal);
}

static bool was_abnormal(struct leat_daemon *d, const struct leat_description *l, uint64_t now)
{
	uint64_t death = l->step >= 0 ? d->steps[l->step].death_ns : 0;

	return death && now - death < DEATH_NS && !opener_lives(d, l);
}

void leat_descriptions_after_step(struct leat_daemon *d, int step)
{
	struct leat_description *l, *next;
	uint64_t now = leat_clock_ns();

	HASH_ITER(hh, d->files->descriptions, l, next)
	if (l->step == step && !is_open(d, l))
		closed(d, l, was_abnormal(d, l, now));
}

/* Has its lock been missing for long enough? */
static bool has_vanished(struct leat_daemon *d, struct leat_description *l, uint64_t now)
{
	if (is_open(d, l))
		l->vanished_ns = 0;
	else if (!l->vanished_ns)
		l->vanished_ns = now;
	return l->vanished_ns && now - l->vanished_ns >= GRACE_NS;
}

void leat_descriptions_sweep(struct leat_daemon *d)
{
	struct leat_description *l, *next;
	uint64_t now = leat_clock_ns();
	bool vanished = false;

	for (l = d->files->descriptions; l; l = l->hh.next)
		vanished |= has_vanished(d, l, now);
	if (!vanished)
		return;
	/* A loop that was held up has not heard yet of those who died. */
	for (int step = 0; step < (int)d->wf->n_steps; step++)
		leat_procs_reap(d, step);
	now = leat_clock_ns();
	HASH_ITER(hh, d->files->descriptions, l, next)
	if (has_vanished(d, l, now))
		closed(d, l, was_abnormal(d, l, now));
}

bool leat_descriptions_of_step(const struct leat_daemon *d, int step)
{
	const struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (l->step == step && l->counted)
			return true;
	return false;
}

bool leat_descriptions_any_closing(const struct leat_daemon *d, int step)
{
	const uint64_t now = leat_clock_ns();
	const struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (l->step == step && l->counted && l->closing_ns &&
		    now - l->closing_ns < CLOSING_NS)
			return true;
	return false;
}

void leat_descriptions_free(struct leat_daemon *d)
{
	struct leat_description *l, *next;

	HASH_ITER(hh, d->files->descriptions, l, next)
	discard(d, l);
}
