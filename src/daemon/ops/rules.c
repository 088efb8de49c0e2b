/* The rules are asked in the name of a client, and their answers are sent to it. */
#include "daemon/ops/rules.h"

#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/ops/ops.h"
#include "daemon/run/blame.h"
#include "model/version.h"

#include <errno.h>

/* Failed files that are named one by one. */
#define MAX_FAILED_REPORTED 4u

static void report_failed(struct leat_daemon *d, struct leat_file *f)
{
	char title[LEAT_VERSION_TITLE];

	if (f->warned)
		return;
	f->warned = true;
	/* A step that fails may take thousands of files with it. */
	if (++d->ops->n_failed_reported > MAX_FAILED_REPORTED) {
		if (d->ops->n_failed_reported == MAX_FAILED_REPORTED + 1)
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
	if (!dir->warned && ++c->d->ops->n_failed_reported <= MAX_FAILED_REPORTED)
		leat_problem_add(c->d, -EIO,
				 "step %s cannot list %s: what its input %s stands for will never "
				 "be complete",
				 c->d->wf->steps[c->step].name, *dir->name ? dir->name : ".",
				 input);
	dir->warned = true;
	leat_step_spoil(c->d, c->step, input);
}

static void warn_unseen(struct leat_conn *c, const struct leat_file *f, int unseen)
{
	struct leat_step_run *s = &c->d->steps[c->step];
	const char *staged = c->d->wf->steps[unseen].name;

	if (!s->held)
		leat_problem_add(c->d, 0,
				 "step %s waits for the end of step %s before it changes %s: leat "
				 "does not see which names a staged step uses; if %s does not use "
				 "this one, set its key \"staged\" to \"concurrent\"",
				 c->d->wf->steps[c->step].name, staged, *f->name ? f->name : ".",
				 staged);
	s->held = true;
}

/* Who used it, so that `step` waits for its end (`changes`: to change it); -1: nobody. */
static int used_by(struct leat_daemon *d, const struct leat_file *f, int step, bool changes)
{
	bool produced = leat_rule_produced(d, f->rule);
	int maker = produced ? -1 : leat_stream_creator(d->stream, f->name);

	if (produced && leat_stream_role(d->stream, step, f->name) != LEAT_ROLE_PLAIN)
		return -1;
	return maker < 0 || maker == step ? leat_stream_holder(d->stream, step, f->name, changes)
					  : maker;
}

/* The producer did not declare what it makes, so nobody can know when it is done. */
static void warn_undeclared(struct leat_conn *c, struct leat_file *f, enum leat_call call)
{
	const struct leat_workflow *wf = c->d->wf;
	bool changes = call == LEAT_CALL_WRITE || call == LEAT_CALL_REMOVE;
	int maker = used_by(c->d, f, c->step, changes);

	if (changes && maker >= 0 && maker == leat_stream_unseen(c->d->stream, c->step, f->name)) {
		warn_unseen(c, f, maker);
		return;
	}
	if (f->warned || maker < 0 || c->step < 0 || f->rule->holds_outputs)
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
		warn_undeclared(c, f, call);
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

int leat_ask_name(struct leat_conn *c, const char *name, enum leat_call call, struct leat_file **on)
{
	struct leat_file *f = leat_file_get(c->d, name);
	bool streams;
	int rc;

	if (!f)
		return -ENFILE;
	leat_file_report_present(c->d, f);
	rc = leat_ask_rules(c, f, call, call == LEAT_CALL_LIST ? UINT64_MAX : 0, 0, &streams);
	if (rc == -EAGAIN)
		*on = f;
	return rc == -ENOENT ? 0 : rc;
}

bool leat_rules_show(struct leat_conn *c, const char *dir, const char *name)
{
	struct leat_daemon *d = c->d;
	char path[PATH_MAX];
	struct leat_file *f;
	enum leat_role role;

	if (!leat_path_put(path, dir, name))
		return false;
	f = leat_file_find(d, path);
	if (f && leat_file_is_hidden(f, c->step))
		return false;
	role = leat_stream_role(d->stream, c->step, path);
	if (role != LEAT_ROLE_CONSUMER && role != LEAT_ROLE_BOTH)
		return true;
	if (!f)
		f = leat_file_get(d, path);
	if (!f)
		return true;
	leat_file_report_present(d, f);
	return leat_stream_visible(d->stream, c->step, path);
}
