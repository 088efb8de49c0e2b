/* What a driver wants to know of steps: may they start, are they complete. */
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/replies.h"
#include "daemon/files/files.h"
#include "daemon/ops/handlers.h"
#include "daemon/run/relaunch.h"
#include "daemon/run/settled.h"
#include "daemon/run/staged.h"

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

static bool is_step(const struct leat_daemon *d, uint32_t step)
{
	return step < d->wf->n_steps;
}

int leat_handle_ask_launch(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_launch *in = msg;
	struct leat_file *on = NULL;
	enum leat_answer answer;
	char *why = NULL;
	int error = 0;

	if (!is_step(c->d, in->step))
		return -EPROTO;
	answer = leat_staged_launch(c->d, (int)in->step, &on, &error);
	if (answer == LEAT_WAIT)
		error = -EAGAIN;
	else if (answer == LEAT_FAILED)
		why = leat_staged_obstacle(c->d, (int)in->step, error);
	leat_reply_answer(c, error, leat_file_slot(on), why);
	free(why);
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

int leat_handle_ask_relaunch(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_relaunch *in = msg;
	char name[PATH_MAX];
	char *why = NULL;
	int step = (int)in->step, error;

	if (!is_step(c->d, in->step))
		return -EPROTO;
	error = error_of(leat_step_may_relaunch(c->d, step, in->ended != 0));
	if (error == -EIO)
		why = leat_staged_obstacle(c->d, step, error);
	leat_reply_answer(c, error, 0, error ? why : launched_for(c->d, step, name));
	free(why);
	return 0;
}

int leat_handle_ask_settled(struct leat_conn *c, const void *msg)
{
	static const int errors[] = {
		[LEAT_SETTLED] = 0, [LEAT_SETTLED_NOT_YET] = -EAGAIN, [LEAT_SETTLED_NEVER] = -EIO};
	const struct leat_msg_ask_settled *in = msg;

	if (!is_step(c->d, in->step))
		return -EPROTO;
	leat_reply_answer(c, errors[leat_step_settled(c->d, (int)in->step)], 0, NULL);
	return 0;
}

int leat_handle_stopping(struct leat_conn *c, const void *msg)
{
	(void)msg;
	c->d->is_cut_off = true;
	leat_reply_answer(c, 0, 0, NULL);
	return 0;
}
