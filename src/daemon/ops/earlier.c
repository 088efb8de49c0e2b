/* What a step before this one may still do with the name: its end, or its close, is waited for. */
#include "daemon/ops/earlier.h"

#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/ops/rules.h"

#include <errno.h>
#include <fcntl.h>

/* A step that comes before has the output open: its close is waited for. */
static int await_holder(struct leat_conn *c, struct leat_file *f, bool changes)
{
	struct leat_daemon *d = c->d;
	int holder = leat_stream_held(d->stream, c->step, f->name, changes);
	bool streams;
	int rc = leat_ask_rules(c, f, changes ? LEAT_CALL_WRITE : LEAT_CALL_OPEN, 0, 0, &streams);

	if (rc == -EAGAIN && holder >= 0 && !f->held_reported) {
		f->held_reported = true;
		leat_problem_add(d, 0,
				 "step %s waits before it %s %s: step %s, which in a batch ends "
				 "before, has it open",
				 d->wf->steps[c->step].name, changes ? "changes" : "reads", f->name,
				 d->wf->steps[holder].name);
	}
	return rc;
}

/* What a staged step does with the name nobody sees: its end is waited for. */
static int await_staged(struct leat_request *r, enum leat_use use)
{
	bool streams, changes = use >= LEAT_USE_APPEND || (use == LEAT_USE_MKDIR && !r->exists) ||
				(r->in->op == LEAT_OP_META && r->exists);
	int rc;

	if (!changes ||
	    (leat_rule_produced(r->d, r->rule) && r->rule->storage != LEAT_STORAGE_FS) ||
	    leat_stream_unseen(r->d->stream, r->c->step, r->found.path) < 0)
		return 0;
	rc = leat_request_file(r);
	return rc ? rc : leat_ask_rules(r->c, r->file, LEAT_CALL_WRITE, 0, 0, &streams);
}

static int await_close(struct leat_request *r, enum leat_use use)
{
	int rc;

	if (leat_stream_held(r->d->stream, r->c->step, r->found.path, use >= LEAT_USE_APPEND) < 0)
		return 0;
	rc = leat_request_file(r);
	return rc ? rc : await_holder(r->c, r->file, use >= LEAT_USE_APPEND);
}

/* Does the call go by what is there, and not only write to it? */
static bool goes_by_it(const struct leat_request *r, enum leat_use use)
{
	const unsigned flags = r->in->op == LEAT_OP_OPEN ? r->in->flags : 0;

	return r->exists &&
	       (use == LEAT_USE_READ || (use == LEAT_USE_WRITE && (flags & O_ACCMODE) == O_RDWR));
}

/* A producer looks at what another one without an order, which the batch runs before, is still at.
 */
static int await_maker(struct leat_conn *c, struct leat_file *f, int maker)
{
	const struct leat_workflow *wf = c->d->wf;
	bool streams;
	int rc = leat_ask_rules(c, f, LEAT_CALL_LOOK, 0, 0, &streams);

	if (rc == -EAGAIN && !f->held_reported &&
	    !leat_is_strictly_upstream(c->d->matcher, maker, c->step)) {
		f->held_reported = true;
		leat_problem_add(c->d, 0,
				 "step %s waits before it reads %s: step %s, which in a batch ends "
				 "before, has made it",
				 wf->steps[c->step].name, f->name, wf->steps[maker].name);
	}
	return rc;
}

static int find_maker(const struct leat_conn *c, const char *name, enum leat_role role)
{
	return role == LEAT_ROLE_PRODUCER
		       ? leat_stream_maker_before(c->d->stream, c->step, name, true)
		       : -1;
}

static int await_other_producer(struct leat_request *r, enum leat_use use)
{
	int maker = goes_by_it(r, use) ? find_maker(r->c, r->found.path, r->role) : -1;
	int rc = maker < 0 ? 0 : leat_request_file(r);

	return rc || maker < 0 ? rc : await_maker(r->c, r->file, maker);
}

int leat_earlier_await(struct leat_request *r, enum leat_use use)
{
	int rc = await_staged(r, use);

	if (!rc)
		rc = await_close(r, use);
	return rc ? rc : await_other_producer(r, use);
}

int leat_earlier_await_change(struct leat_change_request *r, const char *name, enum leat_use use)
{
	bool held = use >= LEAT_USE_APPEND &&
		    leat_stream_held(r->d->stream, r->c->step, name, true) >= 0;
	enum leat_role role = use == LEAT_USE_READ
				      ? leat_stream_role(r->d->stream, r->c->step, name)
				      : LEAT_ROLE_PLAIN;
	int maker = find_maker(r->c, name, role);

	if (!held && maker < 0)
		return 0;
	r->on = leat_file_get(r->d, name);
	if (!r->on)
		return -ENFILE;
	return held ? await_holder(r->c, r->on, true) : await_maker(r->c, r->on, maker);
}

/* Has another step been allowed to open it, and has not been heard of since? */
static bool is_being_opened(const struct leat_conn *c, const struct leat_file *f)
{
	const struct leat_description *l;

	DL_FOREACH(f->descriptions, l)
	if (l->opener && l->step != c->step)
		return true;
	return false;
}

bool leat_earlier_is_making(struct leat_conn *c, struct leat_file *f, bool is_there)
{
	if (f->maker)
		return f->maker != c;
	if (is_there || !is_being_opened(c, f))
		return false;
	f->nudged = true;
	c->waiting = true;
	c->waiting_slot = f->slot;
	return true;
}
