/* CHANGE requests: what removes or moves names is done by the daemon, because
 * it touches both places and its own records. */
#ifndef LEAT_DAEMON_OPS_CHANGE_H
#define LEAT_DAEMON_OPS_CHANGE_H

#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/core/user.h"

struct leat_change_request {
	struct leat_conn *c;
	struct leat_daemon *d;
	unsigned flags;
	struct leat_found from;
	struct leat_found to; /* RENAME, LINK */
	struct leat_file *on; /* to wait on, with -EAGAIN */
	char hides[PATH_MAX]; /* what was there before the run, and the step removes; or "" */
	bool is_hidden;       /* that is all there is to do */
};

/* Each: 0, -EAGAIN with r->on set, or -errno for the program. */
int leat_change_rename(struct leat_change_request *r);
int leat_change_link(struct leat_change_request *r);

/* Make the other half of the directory `path` like the one that was changed, as who asks. 0, also
 * if there is none, or -errno. */
int leat_change_alike(struct leat_conn *c, const char *path, unsigned flags);

/* Ask the rules for a call on `name`, unless the step is its producer or the
 * name is nobody's. */
int leat_change_ask(struct leat_change_request *r, const char *name, enum leat_call call);

/* True if the directory `name` has no entry in either place. */
bool leat_change_is_empty(struct leat_daemon *d, const char *name);

/* Unlink, as `user`, the file `name` of the store, wherever it lies, if it is there. */
void leat_unlink_ours(struct leat_daemon *d, const struct leat_user *user, const char *name);

/* Unlink, as `user`, `name` in every place it is in. 0 or -errno. */
int leat_unlink_everywhere(struct leat_daemon *d, const struct leat_user *user, const char *name);

/* Remove `name` and tell the rules, in the name of `step`. 0 or -errno. */
int leat_change_remove(struct leat_daemon *d, const struct leat_user *user, const char *name,
		       int step, pid_t pid);

/* Files that a consumer removed for itself go when all others are done with them. */
void leat_change_settle_hidden(struct leat_daemon *d);

#endif
