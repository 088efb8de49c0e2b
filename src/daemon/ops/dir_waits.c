#include "daemon/ops/dir_waits.h"
#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/ops/rules.h"

#include <errno.h>

/* A step that has declared the directory as an input waits until it is complete; if it is missing,
 * one that is to find other steps' files in it, or goes by whether it is there, until it is. */
static bool may_await(const struct leat_conn *c, const struct leat_file_rule *rule,
		      const char *path, enum leat_dir_coming coming)
{
	const bool looks = coming == LEAT_DIR_LOOKS_FOR_IT;

	if (leat_rule_is_input(c->d, rule, c->step))
		return true;
	return coming != LEAT_DIR_ENTERS &&
	       (!leat_rule_produced(c->d, rule) || leat_steps_has(rule->producers, c->step)) &&
	       leat_stream_awaits_directory(c->d->stream, c->step, path, looks);
}

int leat_dir_await(struct leat_conn *c, const char *path, enum leat_dir_coming coming,
		   struct leat_file **on)
{
	const struct leat_file_rule *rule = leat_match(c->d->matcher, path);
	enum leat_call call = coming == LEAT_DIR_LOOKS_FOR_IT ? LEAT_CALL_LOOK : LEAT_CALL_OPEN;
	struct leat_file *dir;
	bool streams;
	int rc;

	if (!rule || rule->excluded || !may_await(c, rule, path, coming))
		return 0;
	dir = leat_file_get(c->d, path);
	if (!dir)
		return -ENFILE;
	rc = leat_ask_rules(c, dir, call, 0, 0, &streams);
	if (rc == -EAGAIN)
		*on = dir;
	return rc == -ENOENT ? 0 : rc;
}

int leat_dir_await_left_over(struct leat_request *r)
{
	bool streams;
	int rc;

	if (!leat_stream_is_left_over(r->d->stream, r->c->step, r->found.path))
		return 0;
	rc = leat_request_file(r);
	return rc ? rc : leat_ask_rules(r->c, r->file, LEAT_CALL_OPEN, 0, 0, &streams);
}
