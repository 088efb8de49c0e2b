/* What clients report of files that they have open, and of themselves. */
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/run/lost.h"
#include "daemon/run/steps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void leat_conn_made(struct leat_conn *c)
{
	struct leat_file *f = c->making;
	enum leat_root root;
	struct stat st;

	c->making = NULL;
	if (!f)
		return;
	f->maker = NULL;
	leat_shm_file_update(leat_file_shm(c->d, f), 0, 0);
	if (f->retired || leat_tree_look(c->d->tree, f->name, &root, &st))
		return;
	if (!S_ISDIR(st.st_mode))
		leat_file_note_root(c->d, f, root);
	f->reported = f->made = true;
	leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_CREATE,
						    .step = c->step,
						    .pid = c->pid,
						    .name = f->name,
						    .flags = c->making_flags});
}

int leat_handle_opened(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_opened *in = msg;

	if (c->pending) {
		if (in->error)
			leat_description_failed(c->d, c->pending);
		else
			leat_description_confirm(c->pending);
	}
	leat_conn_made(c);
	return 0;
}

int leat_handle_closed(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_closed *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (f && in->killed == LEAT_WIRE_CLOSING)
		leat_description_closing(c, f, in->ofd);
	else if (f)
		leat_descriptions_hint(c, f, in->ofd, in->killed != 0);
	return 0;
}

/* The open description a client speaks of, if it is one of that file. */
static uint64_t known_ofd(struct leat_daemon *d, const struct leat_file *f, uint64_t id)
{
	struct leat_description *l;

	HASH_FIND(hh, d->files->descriptions, &id, sizeof(id), l);
	return l && l->file == f && l->counted ? id : 0;
}

int leat_handle_extent(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_range *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f = leat_file_at(d, in->slot);
	struct leat_shm_file *s;

	if (!f || f->retired || !f->publishes || !leat_enforce_fact(c, f, true))
		return 0;
	s = leat_file_shm(d, f);
	/* First the flag, then the frontier: a publisher does it the other way
	 * round, so that one of the two sees the other. */
	if (!(leat_shm_flags(s) & LEAT_SHM_EXTENTS))
		leat_shm_file_update(s, LEAT_SHM_EXTENTS, 0);
	leat_file_sync_frontier(d, f);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_EXTENT,
						 .step = c->step,
						 .pid = c->pid,
						 .name = f->name,
						 .offset = in->offset,
						 .length = in->length});
	leat_file_sync_frontier(d, f);
	leat_file_show_extents(
		d, f, &(struct leat_range){in->offset, leat_range_end(in->offset, in->length)});
	return 0;
}

static void wrote(struct leat_daemon *d, struct leat_description *l)
{
	if (!l->intact)
		return;
	l->intact = false;
	if (l->counted)
		leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_WRITE,
							 .step = l->step,
							 .pid = l->pid,
							 .ofd = l->id});
}

/* By description `ofd`; 0: by any of the file. */
static void wrote_by(struct leat_daemon *d, struct leat_file *f, uint64_t ofd)
{
	struct leat_description *l;

	DL_FOREACH(f->descriptions, l)
	if (!ofd || l->id == ofd)
		wrote(d, l);
}

int leat_handle_wrote(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_wrote *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (f && leat_enforce_fact(c, f, true))
		wrote_by(c->d, f, in->ofd);
	return 0;
}

static void apply_cut(struct leat_conn *c, const struct leat_file *f,
		      const struct leat_msg_truncated *in)
{
	leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_TRUNCATE,
						    .step = c->step,
						    .pid = c->pid,
						    .name = f->name,
						    .ofd = known_ofd(c->d, f, in->ofd),
						    .length = in->length});
}

int leat_handle_truncated(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_truncated *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f = leat_file_at(d, in->slot);

	if (!f || !leat_enforce_fact(c, f, true))
		return 0;
	/* Nothing has changed, unless another step writes beyond. */
	if (in->same) {
		if (!f->retired && leat_stream_is_one_of_several(d->stream, c->step, f->name))
			apply_cut(c, f, in);
		return 0;
	}
	leat_shm_file_cut(leat_file_shm(d, f), in->length);
	if (f->reported_frontier > in->length)
		f->reported_frontier = in->length;
	wrote_by(d, f, in->ofd);
	if (f->retired)
		return 0;
	apply_cut(c, f, in);
	if (f->table)
		leat_file_show_extents(d, f, &(struct leat_range){in->length, UINT64_MAX});
	return 0;
}

/* Process `pid` behind the mount whose server `p` is has ended. */
static void ended_behind(struct leat_proc *p, int pid, bool killed)
{
	leat_events_apply(p->d, (struct leat_event){.kind = LEAT_EV_PROC_EXIT,
						    .step = p->step,
						    .node = p->pid,
						    .pid = pid,
						    .status = killed ? -SIGKILL : 0});
}

int leat_handle_exiting(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_step *in = msg;
	struct leat_proc *p = c->proc;
	const char *what = leat_wire_string(msg, sizeof(*in), 1);
	int pid = in->pid;

	if (what && strcmp(what, LEAT_WIRE_BEHIND) == 0) {
		if (!p || !p->mount || !pid)
			return -EPROTO;
		ended_behind(p, pid, in->status == LEAT_WIRE_CUT_SHORT);
		return 0;
	}
	/* The server of a mount speaks for the program behind it. */
	if (p && pid && pid != p->pid) {
		HASH_FIND_INT(c->d->procs, &pid, p);
		if (p && p->step != c->step)
			p = NULL;
	}
	if (p) {
		p->exiting = true;
		p->cut_short = in->status == LEAT_WIRE_CUT_SHORT;
		p->status = p->cut_short ? 0 : in->status & 0xff;
	}
	return 0;
}

/* What is reported now is not reported again when the description is closed. */
static void forget_foreign(struct leat_conn *c, struct leat_file *f)
{
	struct leat_description *l;

	DL_FOREACH(f->descriptions, l)
	if (l->step == c->step)
		l->foreign = false;
}

static void apply_violation(struct leat_conn *c, struct leat_file *f, uint32_t code,
			    uint64_t offset, uint64_t length)
{
	leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
						    .step = c->step,
						    .pid = c->pid,
						    .name = f->name,
						    .code = code,
						    .flags = LEAT_EVF_RANGE,
						    .offset = offset,
						    .length = length});
}

int leat_handle_violated(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_violated *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (in->code == 0 || in->code >= LEAT_VIOLATION_KINDS ||
	    in->code == LEAT_VIOLATION_EARLY_SIZE)
		return -EPROTO;
	if (!f || f->retired || !leat_enforce_fact(c, f, false))
		return 0;
	if (in->code == LEAT_VIOLATION_AFTER_COMMIT)
		forget_foreign(c, f);
	apply_violation(c, f, in->code, in->offset, in->length);
	return 0;
}

/* The size is judged when the true one is known. */
static void note_early(struct leat_conn *c, struct leat_file *f,
		       const struct leat_msg_early_size *in)
{
	struct leat_early *e;

	LL_FOREACH(f->early, e)
	if (e->step == c->step && e->size == in->size)
		return;
	e = calloc(1, sizeof(*e));
	if (!e)
		return;
	e->step = c->step;
	e->size = in->size;
	e->read_end = in->read_end;
	LL_PREPEND(f->early, e);
}

int leat_handle_early_size(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_early_size *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (!f || f->retired || !leat_enforce_fact(c, f, false))
		return 0;
	if (!(leat_shm_flags(leat_file_shm(c->d, f)) & LEAT_SHM_COMMITTED))
		note_early(c, f, in);
	else if (f->size > in->size)
		apply_violation(c, f, LEAT_VIOLATION_EARLY_SIZE, in->read_end, in->size);
	return 0;
}

int leat_handle_refused(struct leat_conn *c, const void *msg)
{
	const char *text = leat_wire_string(msg, sizeof(struct leat_msg_text), 0);

	if (!text)
		return -EPROTO;
	if (((const struct leat_msg_text *)msg)->error)
		leat_lost_note(c->d, c->step, text);
	else
		leat_problem_add(c->d, -ENOEXEC, "step %s: %s", c->d->wf->steps[c->step].name,
				 text);
	return 0;
}

int leat_handle_killed(struct leat_conn *c, const void *msg)
{
	const char *text = leat_wire_string(msg, sizeof(struct leat_msg_text), 0);

	if (!text)
		return -EPROTO;
	leat_step_killed(c->d, c->step, text);
	return 0;
}
