/* What clients want to know of files that they have open. */
#include "daemon/core/connections.h"
#include "daemon/core/processes.h"
#include "daemon/core/replies.h"
#include "daemon/files/files.h"
#include "daemon/files/sizes.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/rules.h"
#include "daemon/run/actions.h"
#include "daemon/space/fit.h"
#include "daemon/space/spill.h"

#include <errno.h>

static int answer(struct leat_conn *c, const struct leat_file *f, int error)
{
	leat_reply_answer(c, error, leat_file_slot(f), NULL);
	return 0;
}

/* A file without a name belongs to who has it open. */
static bool has_rules(const struct leat_file *f)
{
	return f && !f->retired;
}

int leat_handle_ask_read(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_read *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool streams;

	return answer(c, f,
		      has_rules(f) ? leat_ask_rules(c, f, LEAT_CALL_READ, in->offset, in->length,
						    &streams)
				   : 0);
}

int leat_handle_ask_whole(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_whole *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool streams;

	return answer(c, f,
		      has_rules(f) ? leat_ask_rules(c, f, LEAT_CALL_WHOLE, 0, 0, &streams) : 0);
}

int leat_handle_ask_write(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_write *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool streams;

	if (!has_rules(f))
		return answer(c, f, 0);
	return answer(c, f,
		      f->violated ? -EIO : leat_ask_rules(c, f, LEAT_CALL_WRITE, 0, 0, &streams));
}

int leat_handle_ask_space(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_space *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	int rc = f ? leat_spill_make_space(c, f, in->length, in->attempt) : -ENOSPC;

	if (rc == -EAGAIN)
		c->cramped = f;
	return answer(c, f, rc);
}

int leat_handle_ask_budget(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_budget *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	return answer(c, f, f ? leat_space_check(c->d, f, in->length) : 0);
}

int leat_handle_ask_aside(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_aside *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	bool may = f && c->proc && c->proc->mount;
	bool moves = may && leat_spill_aside(c, f, in->pid, in->attempt);

	if (moves)
		c->cramped = f;
	return answer(c, f, moves ? -EAGAIN : 0);
}

int leat_handle_ask_true_size(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_true_size *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (!f)
		return answer(c, f, 0);
	f->watched = true;
	return answer(c, f, leat_file_settle(c->d, f, true) ? 0 : -EAGAIN);
}

int leat_handle_ask_actions(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_ask_actions *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);
	enum leat_actions_answer rc =
		f ? leat_actions_ask(c, f, in->closed != 0, in->ofd) : LEAT_ACTIONS_OVER;

	return answer(c, f, leat_actions_error(rc));
}

int leat_handle_sync(struct leat_conn *c, const void *msg)
{
	(void)msg;
	return answer(c, NULL, 0);
}
