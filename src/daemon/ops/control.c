/* What leat itself says: steps begin and end, the run is over. */
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/replies.h"
#include "daemon/core/steps.h"
#include "daemon/core/user.h"
#include "daemon/ops/auth_token.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/run/ending.h"
#include "daemon/run/finish.h"
#include "daemon/run/lost.h"
#include "daemon/run/milestones.h"
#include "daemon/run/report.h"
#include "daemon/run/samples.h"
#include "daemon/run/steps.h"
#include "daemon/run/unseen.h"

#include <errno.h>
#include <stdlib.h>

/* The step a control message names. 0 or -EPROTO; -1 in *step if there is none. */
static int named_step(struct leat_conn *c, const void *msg, int *step)
{
	const char *name = leat_wire_string(msg, sizeof(struct leat_msg_step), 0);

	if (!name)
		return -EPROTO;
	*step = leat_workflow_find_step(c->d->wf, name);
	if (*step < 0)
		leat_reply_answer(c, -ENOENT, 0, "the workflow has no such step");
	return 0;
}

/* What --enforce, and who looks for programs that are not followed, want to know of an instance. */
static int admit(struct leat_conn *c, int step, pid_t pid, const void *msg)
{
	const char *program = leat_wire_string(msg, sizeof(struct leat_msg_step), 1);
	const char *key = leat_wire_string(msg, sizeof(struct leat_msg_step), 2);
	int rc = leat_auth_token_add(c->d, step, pid, key ? key : "");

	if (((const struct leat_msg_step *)msg)->status)
		leat_unseen_start(c->d, step, pid, program ? program : "");
	return rc ? rc : leat_enforce_program(c->d, step, program ? program : "");
}

int leat_handle_step_start(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_step *in = msg;
	struct leat_step_run *s;
	int step, rc = named_step(c, msg, &step);

	if (rc || step < 0)
		return rc;
	/* A step that was complete before has no process. */
	rc = in->pid ? admit(c, step, in->pid, msg) : 0;
	if (rc) {
		leat_reply_answer(c, rc, 0, NULL);
		return 0;
	}
	s = &c->d->steps[step];
	c->instance = in->pid;
	c->instance_step = step;
	if (s->state == LEAT_RUN_RESTING) {
		leat_step_sample(c->d, step);
		leat_step_run_advance(c->d, step, LEAT_RUN_EVENT_LAUNCH);
		s->pid = in->pid;
		leat_milestones_step(c->d, LEAT_MILESTONE_LAUNCH, step);
		leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_LAUNCH,
							    .step = step,
							    .pid = in->pid,
							    .code = 1});
	} else if (s->state == LEAT_RUN_FOUND) {
		/* Its first process was faster than its parent. */
		leat_step_run_advance(c->d, step, LEAT_RUN_EVENT_TAKEN);
		s->pid = in->pid;
	} else {
		leat_step_begin(c->d, step, in->pid, LEAT_RUN_EVENT_START);
	}
	leat_reply_answer(c, 0, 0, NULL);
	return 0;
}

int leat_handle_step_end(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_step *in = msg;
	const char *reason = leat_wire_string(msg, sizeof(*in), 1);
	struct leat_step_run *s;
	int step, rc = named_step(c, msg, &step);

	if (rc || step < 0)
		return rc;
	s = &c->d->steps[step];
	c->instance = 0;
	/* If it failed by itself nothing has to be known. */
	if (in->status)
		leat_unseen_forget(c->d, in->pid);
	else
		leat_unseen_ended(c->d, in->pid, in->status);
	if (s->state == LEAT_RUN_FOUND)
		leat_step_run_advance(c->d, step, LEAT_RUN_EVENT_TAKEN);
	leat_ending_begin(c, step, in->status, reason);
	return 0;
}

int leat_handle_step_done(struct leat_conn *c, const void *msg)
{
	int step, rc = named_step(c, msg, &step);

	if (rc || step < 0)
		return rc;
	if (!c->d->steps[step].done) {
		c->d->steps[step].done = true;
		leat_events_apply(c->d,
				  (struct leat_event){.kind = LEAT_EV_STEP_CLOSED, .step = step});
	}
	leat_reply_answer(c, 0, 0, NULL);
	return 0;
}

int leat_handle_reaped(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_step *in = msg;

	if (c->control)
		leat_unseen_ended(c->d, in->pid, in->status);
	else if (c->user)
		leat_unseen_gone(c->d, in->pid, in->status, leat_user_id(c->user));
	else
		return -EPROTO;
	return 0;
}

int leat_handle_becomes(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_step *in = msg;
	const char *program = leat_wire_string(msg, sizeof(*in), 1);

	if (!program || c->step < 0)
		return -EPROTO;
	/* A vfork child speaks on its parent's connection. */
	if (c->user)
		leat_unseen_becomes(c->d, c->step, in->pid, program, leat_user_id(c->user));
	leat_reply_answer(c, 0, 0, NULL);
	return 0;
}

int leat_handle_status(struct leat_conn *c, const void *msg)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool ok = out != NULL;

	(void)msg;
	if (out) {
		leat_report_status(c->d, out);
		ok = fclose(out) == 0;
	}
	leat_reply_text(c, ok ? 0 : -ENOMEM, ok ? text : "{}");
	free(text);
	return 0;
}

int leat_handle_finish(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_text *in = msg;

	if (c->d->finishing) {
		leat_reply_text(c, -EBUSY, "{}");
		return 0;
	}
	c->d->finishing = c;
	c->d->wants_timeline = in->more;
	leat_unseen_await(c->d);
	leat_lost_collect(c->d);
	leat_finish_begin(c->d);
	return 0;
}

int leat_handle_abort(struct leat_conn *c, const void *msg)
{
	const char *why = leat_wire_string(msg, sizeof(struct leat_msg_step), 1);

	if (!why)
		return -EPROTO;
	leat_reply_answer(c, 0, 0, NULL);
	leat_finish_abort(c->d, *why ? why : "the run was aborted");
	return 0;
}
