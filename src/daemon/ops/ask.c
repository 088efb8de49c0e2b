/* What clients ask and tell of files they have open. */
#include "base/str.h"
#include "daemon/run/actions.h"
#include "daemon/ops/enforce.h"
#include "daemon/core/events.h"
#include "daemon/run/lost.h"
#include "daemon/ops/resolve.h"
#include "daemon/space/spill.h"
#include "daemon/run/steps.h"
#include "model/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Failed files that are named one by one. */
#define MAX_FAILED_TOLD 4u

static void report_failed(struct leat_daemon *d, struct leat_file *f)
{
	char title[LEAT_VERSION_TITLE];

	if (f->warned)
		return;
	f->warned = true;
	/* A step that fails may take thousands of files with it. */
	if (++d->n_failed_told > MAX_FAILED_TOLD) {
		if (d->n_failed_told == MAX_FAILED_TOLD + 1)
			leat_problem_add(d, -EIO,
					 "more files failed like these; leat run --log "
					 "FILE names them all");
		return;
	}
	leat_problem_add(d, -EIO, "%s failed: %s",
			 *f->name ? leat_version_title(f->name, title) : ".",
			 f->why ? f->why : "its step failed");
}

/* Not the directory has failed, but what the step may find in it. */
static void fail_listing(struct leat_conn *c, struct leat_file *dir)
{
	const char *input = leat_step_failed_input(c->d, c->step);

	if (!input) {
		report_failed(c->d, dir);
		leat_step_spoil(c->d, c->step, dir->name);
		return;
	}
	if (!dir->warned && ++c->d->n_failed_told <= MAX_FAILED_TOLD)
		leat_problem_add(c->d, -EIO,
				 "step %s cannot list %s: what its input %s stands for will never "
				 "be complete",
				 c->d->wf->steps[c->step].name, *dir->name ? dir->name : ".",
				 input);
	dir->warned = true;
	leat_step_spoil(c->d, c->step, input);
}

/* The producer did not declare what it makes, so nobody can know when it is done. */
static void warn_undeclared(struct leat_conn *c, struct leat_file *f)
{
	const struct leat_workflow *wf = c->d->wf;
	int maker = leat_stream_creator(c->d->stream, f->name);

	if (maker < 0 || maker == c->step)
		maker = leat_stream_holder(c->d->stream, c->step, f->name, true);
	if (f->warned || maker < 0 || c->step < 0 || leat_rule_produced(c->d, f->rule) ||
	    f->rule->holds_outputs)
		return;
	f->warned = true;
	leat_problem_add(c->d, 0,
			 "step %s uses %s, which step %s uses without declaring it: it waits for "
			 "that step's end",
			 wf->steps[c->step].name, f->name, wf->steps[maker].name);
}

int leat_ask_rules(struct leat_conn *c, struct leat_file *f, enum leat_call call, uint64_t offset,
		   uint64_t length, bool *streams)
{
	leat_file_sync_frontier(c->d, f);
	c->asked = true;
	*streams = false;
	switch (leat_events_ask(c->d, c->step, c->id, call, f->name, offset, length)) {
	case LEAT_GO:
		return 0;
	case LEAT_GO_STREAM:
		*streams = true;
		return leat_file_note_reader(c->d, f, c->step);
	case LEAT_WAIT:
		c->waiting = true;
		c->waiting_slot = f->slot;
		warn_undeclared(c, f);
		return -EAGAIN;
	case LEAT_NOENT:
		return -ENOENT;
	case LEAT_FAILED:
		break;
	}
	if (call == LEAT_CALL_LIST && c->step >= 0) {
		fail_listing(c, f);
		return -EIO;
	}
	report_failed(c->d, f);
	if (c->step >= 0)
		leat_step_spoil(c->d, c->step, f->name);
	return -EIO;
}

static int ask_launch(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *on = NULL;
	char *why;
	int rc;

	if (!c->control || in->slot >= c->d->wf->n_steps)
		return -EPROTO;
	rc = leat_staged_launch(c->d, (int)in->slot, &on);
	why = rc && rc != -EAGAIN ? leat_staged_obstacle(c->d, (int)in->slot, rc) : NULL;
	leat_reply_answer(c, rc, on, why);
	free(why);
	return 0;
}

static int ask_settled(struct leat_conn *c, const struct leat_msg_ask *in)
{
	if (!c->control || in->slot >= c->d->wf->n_steps)
		return -EPROTO;
	leat_reply_answer(c, leat_step_settled(c->d, (int)in->slot), NULL, NULL);
	return 0;
}

/* The file that a launch is for, within the step's directory. */
static const char *launched_for(struct leat_daemon *d, int step, char name[PATH_MAX])
{
	const char *dir = d->wf->steps[step].dir;

	if (!leat_stream_next(d->stream, step, name))
		return "";
	return dir && leat_path_is_below(name, dir) ? name + strlen(dir) + 1 : name;
}

static int ask_more(struct leat_conn *c, const struct leat_msg_ask *in)
{
	char name[PATH_MAX];
	char *why = NULL;
	int step = (int)in->slot, rc;

	if (!c->control || in->slot >= c->d->wf->n_steps)
		return -EPROTO;
	rc = leat_step_more(c->d, step, in->offset != 0);
	if (rc == -EIO)
		why = leat_staged_obstacle(c->d, step, rc);
	leat_reply_answer(c, rc, NULL, rc ? why : launched_for(c->d, step, name));
	free(why);
	return 0;
}

static int ask_stopping(struct leat_conn *c)
{
	if (!c->control)
		return -EPROTO;
	c->d->is_cut_off = true;
	leat_reply_answer(c, 0, NULL, NULL);
	return 0;
}

static int ask_room(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	int rc = f ? leat_spill_room(c, f, in->length, in->offset) : -ENOSPC;

	if (rc == -EAGAIN)
		c->cramped = f;
	leat_reply_answer(c, rc, f, NULL);
	return 0;
}

static int ask_aside(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool may = f && c->proc && c->proc->mount;
	int rc = may ? leat_spill_aside(c->d, f, (pid_t)in->length, in->offset) : 0;

	if (rc == -EAGAIN)
		c->cramped = f;
	leat_reply_answer(c, rc, f, NULL);
	return 0;
}

static int ask_has_room(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);

	leat_reply_answer(c, f ? leat_spill_has_room(c->d, f, in->length) : 0, f, NULL);
	return 0;
}

static int ask_shut(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	int rc = 0;

	if (f) {
		f->watched = true;
		rc = leat_file_settle(c->d, f, true);
	}
	leat_reply_answer(c, rc, f, NULL);
	return 0;
}

static int ask_acted(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);

	leat_reply_answer(c, f ? leat_acts_ask(c, f, in->offset != 0, in->length) : 0, f, NULL);
	return 0;
}

int leat_handle_ask(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f;
	bool streams;
	int rc = 0;

	if (in->call == LEAT_CALL_LAUNCH)
		return ask_launch(c, in);
	if (in->call == LEAT_WIRE_ROOM)
		return ask_room(c, in);
	if (in->call == LEAT_WIRE_ASIDE)
		return ask_aside(c, in);
	if (in->call == LEAT_WIRE_HAS_ROOM)
		return ask_has_room(c, in);
	if (in->call == LEAT_WIRE_SETTLED)
		return ask_settled(c, in);
	if (in->call == LEAT_WIRE_MORE)
		return ask_more(c, in);
	if (in->call == LEAT_WIRE_SHUT)
		return ask_shut(c, in);
	if (in->call == LEAT_WIRE_STOPPING)
		return ask_stopping(c);
	if (in->call == LEAT_WIRE_ACTED)
		return ask_acted(c, in);
	if (in->call > LEAT_CALL_REMOVE || in->call == LEAT_CALL_LIST)
		return -EPROTO;
	f = leat_file_at(d, in->slot);
	/* A file without a name belongs to who has it open. */
	if (!f || f->retired) {
		leat_reply_answer(c, 0, f, NULL);
		return 0;
	}
	if (in->call == LEAT_CALL_WRITE && f->violated)
		rc = -EIO;
	else
		rc = leat_ask_rules(c, f, (enum leat_call)in->call, in->offset, in->length,
				    &streams);
	leat_reply_answer(c, rc, f, NULL);
	return 0;
}

/* ---- facts ---- */

void leat_conn_made(struct leat_conn *c)
{
	struct leat_file *f = c->making;
	enum leat_root root;
	struct stat st;

	c->making = NULL;
	if (!f || f->retired || leat_tree_look(c->d->tree, f->name, &root, &st))
		return;
	if (!S_ISDIR(st.st_mode))
		leat_file_note_place(c->d, f, root);
	f->told = f->made = true;
	leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_CREATE,
						    .step = c->step,
						    .pid = c->pid,
						    .name = f->name,
						    .flags = c->making_flags});
}

int leat_handle_opened(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_fact *in = msg;

	if (c->pending) {
		if (in->error)
			leat_live_failed(c->d, c->pending);
		else
			leat_live_confirm(c->pending);
	}
	leat_conn_made(c);
	return 0;
}

int leat_handle_closed(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_fact *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (f)
		leat_lives_hint(c, f, in->ofd, in->error != 0);
	return 0;
}

/* The open description a client speaks of, if it is one of that file. */
static uint64_t known_ofd(struct leat_daemon *d, const struct leat_file *f, uint64_t id)
{
	struct leat_live *l;

	HASH_FIND(hh, d->lives, &id, sizeof(id), l);
	return l && l->file == f && l->counted ? id : 0;
}

int leat_handle_extent(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_fact *in = msg;
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

static void wrote(struct leat_daemon *d, struct leat_live *l)
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

int leat_handle_wrote(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_fact *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	struct leat_live *l;

	if (!f || !leat_enforce_fact(c, f, true))
		return 0;
	DL_FOREACH(f->lives, l)
	if (!in->ofd || l->id == in->ofd)
		wrote(c->d, l);
	return 0;
}

int leat_handle_truncated(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_fact *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f = leat_file_at(d, in->slot);

	if (!f || !leat_enforce_fact(c, f, true))
		return 0;
	leat_shm_file_cut(leat_file_shm(d, f), in->length);
	if (f->told_frontier > in->length)
		f->told_frontier = in->length;
	leat_handle_wrote(c, msg);
	if (f->retired)
		return 0;
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_TRUNCATE,
						 .step = c->step,
						 .pid = c->pid,
						 .name = f->name,
						 .ofd = known_ofd(d, f, in->ofd),
						 .length = in->length});
	if (f->table)
		leat_file_show_extents(d, f, &(struct leat_range){in->length, UINT64_MAX});
	return 0;
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
		leat_proc_ended_behind(p, pid, in->status == LEAT_WIRE_CUT_SHORT);
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

/* What is told now is not told again when the description is closed. */
static void forget_foreign(struct leat_conn *c, struct leat_file *f)
{
	struct leat_live *l;

	DL_FOREACH(f->lives, l)
	if (l->step == c->step)
		l->foreign = false;
}

static void tell_violation(struct leat_conn *c, struct leat_file *f, const struct leat_msg_fact *in)
{
	if (in->code == LEAT_VIOLATION_AFTER_COMMIT)
		forget_foreign(c, f);
	leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
						    .step = c->step,
						    .pid = c->pid,
						    .name = f->name,
						    .code = in->code,
						    .flags = LEAT_EVF_PLACED,
						    .offset = in->offset,
						    .length = in->length});
}

/* The size a consumer relied on is judged when the true one is known. */
static void note_early(struct leat_conn *c, struct leat_file *f, const struct leat_msg_fact *in)
{
	uint64_t size = in->length;
	struct leat_early *e;

	if (leat_shm_flags(leat_file_shm(c->d, f)) & LEAT_SHM_COMMITTED) {
		if (f->size > size)
			tell_violation(c, f, in);
		return;
	}
	LL_FOREACH(f->early, e)
	if (e->step == c->step && e->size == size)
		return;

	e = calloc(1, sizeof(*e));
	if (!e)
		return;
	e->step = c->step;
	e->size = size;
	e->read_end = in->offset;
	LL_PREPEND(f->early, e);
}

int leat_handle_violated(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_fact *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (in->code == 0 || in->code >= LEAT_VIOLATION_KINDS)
		return -EPROTO;
	if (!f || f->retired || !leat_enforce_fact(c, f, false))
		return 0;
	if (in->code == LEAT_VIOLATION_EARLY_SIZE)
		note_early(c, f, in);
	else
		tell_violation(c, f, in);
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
