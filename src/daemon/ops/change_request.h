/* One CHANGE request while it is handled: what removes or moves names is done by the daemon,
 * because it touches both places and its own records. */
#ifndef LEAT_DAEMON_OPS_CHANGE_REQUEST_H
#define LEAT_DAEMON_OPS_CHANGE_REQUEST_H

#include "daemon/core/state.h"

struct leat_change_request {
	struct leat_conn *c;
	struct leat_daemon *d;
	unsigned flags;
	struct leat_found from;
	struct leat_found to;  /* RENAME, LINK */
	struct leat_file *on;  /* to wait on, with -EAGAIN */
	char hides[PATH_MAX];  /* what was there before the run, and the step removes; or "" */
	bool is_hidden;        /* that is all there is to do */
	char leaves[PATH_MAX]; /* a link of the step's own, which it removes or renames; or "" */
};

/* Ask the rules for a call on `name`, unless the step is its producer or the
 * name is nobody's. */
int leat_change_ask(struct leat_change_request *r, const char *name, enum leat_call call);

/* Has the directory `name` no entry, in either place? 0; -ENOTEMPTY; -EAGAIN: only files that the
 * step has removed already, and which others are still to read: in a batch these have done so. */
int leat_change_await_empty(struct leat_change_request *r, const char *name);

#endif
