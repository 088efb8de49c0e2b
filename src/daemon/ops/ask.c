/* ASK: what clients want to know of files that they have open, and leat of steps. */
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/processes.h"
#include "daemon/core/replies.h"
#include "daemon/files/files.h"
#include "daemon/files/sizes.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/rules.h"
#include "daemon/run/actions.h"
#include "daemon/run/relaunch.h"
#include "daemon/run/settled.h"
#include "daemon/run/staged.h"
#include "daemon/space/fit.h"
#include "daemon/space/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the wire says for it. */
static int error_of(enum leat_answer answer)
{
	static const int errors[] = {[LEAT_GO] = 0,
				     [LEAT_GO_STREAM] = 0,
				     [LEAT_WAIT] = -EAGAIN,
				     [LEAT_NOENT] = -ENOENT,
				     [LEAT_FAILED] = -EIO};

	return errors[answer];
}

static int ask_launch(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *on = NULL;
	enum leat_answer answer;
	char *why = NULL;
	int error = 0;

	if (!c->control || in->slot >= c->d->wf->n_steps)
		return -EPROTO;
	answer = leat_staged_launch(c->d, (int)in->slot, &on, &error);
	if (answer == LEAT_WAIT)
		error = -EAGAIN;
	else if (answer == LEAT_FAILED)
		why = leat_staged_obstacle(c->d, (int)in->slot, error);
	leat_reply_answer(c, error, leat_file_slot(on), why);
	free(why);
	return 0;
}

static int ask_settled(struct leat_conn *c, const struct leat_msg_ask *in)
{
	static const int errors[] = {
		[LEAT_SETTLED] = 0, [LEAT_SETTLED_NOT_YET] = -EAGAIN, [LEAT_SETTLED_NEVER] = -EIO};

	if (!c->control || in->slot >= c->d->wf->n_steps)
		return -EPROTO;
	leat_reply_answer(c, errors[leat_step_settled(c->d, (int)in->slot)], 0, NULL);
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
	int step = (int)in->slot, error;

	if (!c->control || in->slot >= c->d->wf->n_steps)
		return -EPROTO;
	error = error_of(leat_step_more(c->d, step, in->offset != 0));
	if (error == -EIO)
		why = leat_staged_obstacle(c->d, step, error);
	leat_reply_answer(c, error, 0, error ? why : launched_for(c->d, step, name));
	free(why);
	return 0;
}

static int ask_stopping(struct leat_conn *c)
{
	if (!c->control)
		return -EPROTO;
	c->d->is_cut_off = true;
	leat_reply_answer(c, 0, 0, NULL);
	return 0;
}

static int ask_room(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	int rc = f ? leat_spill_make_space(c, f, in->length, in->offset) : -ENOSPC;

	if (rc == -EAGAIN)
		c->cramped = f;
	leat_reply_answer(c, rc, leat_file_slot(f), NULL);
	return 0;
}

static int ask_aside(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool may = f && c->proc && c->proc->mount;
	bool moves = may && leat_spill_aside(c, f, (pid_t)in->length, in->offset);

	if (moves)
		c->cramped = f;
	leat_reply_answer(c, moves ? -EAGAIN : 0, leat_file_slot(f), NULL);
	return 0;
}

static int ask_has_room(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);

	leat_reply_answer(c, f ? leat_space_check(c->d, f, in->length) : 0, leat_file_slot(f),
			  NULL);
	return 0;
}

static int ask_shut(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool shut = true;

	if (f) {
		f->watched = true;
		shut = leat_file_settle(c->d, f, true);
	}
	leat_reply_answer(c, shut ? 0 : -EAGAIN, leat_file_slot(f), NULL);
	return 0;
}

static int ask_acted(struct leat_conn *c, const struct leat_msg_ask *in)
{
	struct leat_file *f = leat_file_at(c->d, in->slot);
	enum leat_actions_answer answer =
		f ? leat_actions_ask(c, f, in->offset != 0, in->length) : LEAT_ACTIONS_OVER;

	leat_reply_answer(c, leat_actions_error(answer), leat_file_slot(f), NULL);
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
		leat_reply_answer(c, 0, leat_file_slot(f), NULL);
		return 0;
	}
	if (in->call == LEAT_CALL_WRITE && f->violated)
		rc = -EIO;
	else
		rc = leat_ask_rules(c, f, (enum leat_call)in->call, in->offset, in->length,
				    &streams);
	leat_reply_answer(c, rc, leat_file_slot(f), NULL);
	return 0;
}
