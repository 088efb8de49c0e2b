/* One RESOLVE request while it is handled. */
#ifndef LEAT_DAEMON_OPS_REQUEST_H
#define LEAT_DAEMON_OPS_REQUEST_H

#include "daemon/core/state.h"

struct leat_request {
	struct leat_conn *c;
	struct leat_daemon *d;
	const struct leat_msg_resolve *in;
	const char *path;                  /* of it */
	const struct leat_file_rule *rule; /* of found.path */
	enum leat_role role;
	struct leat_file *file; /* once one is needed */
	enum leat_kind kind;
	bool exists;
	bool is_dir;
	bool carried;        /* a version was begun with what was in the one before */
	char seen[PATH_MAX]; /* what the step calls found.path, if that is something else; or "" */
	struct leat_found found;
};

/* How its path is to be found. */
enum leat_find leat_request_how(const struct leat_request *r);

/* Ask the rules whether the client may make `call` on what was found. 0 go on
 * (r->kind is set), -EAGAIN wait, -ENOENT, -EIO. Calls nobody waits with and
 * names nobody declared cost nothing. */
int leat_request_ask(struct leat_request *r, enum leat_call call);

/* r->file, made if need be; the rules know of it if it exists. 0 or -errno. */
int leat_request_file(struct leat_request *r);

/* Answer: error, or go on where r->found says. */
int leat_request_fail(struct leat_request *r, int error);
int leat_request_go(struct leat_request *r);
int leat_request_go_open(struct leat_request *r, uint64_t ofd);

/* Nothing of that name is there: make space for it in `root` and apply
 * its CREATE to the rules. 0 or -errno. */
int leat_request_create(struct leat_request *r, enum leat_root root);

/* Did the fact just applied break what the workflow file says, fatally? */
bool leat_request_is_violation(const struct leat_request *r, unsigned violations_before);

/* Make the parent directories of a new name in `root`; r->file is its record unless it is excluded.
 * 0 or -errno. */
int leat_request_make_parents(struct leat_request *r, enum leat_root root);

/* Note what was found: r->exists and what follows from that. */
void leat_request_note_found(struct leat_request *r);

/* Answer: go on, outside of the workflow's directory. */
int leat_request_go_outside(const struct leat_request *r);

/* Is it a look for what is not there that is not to be waited for (no_wait of RESOLVE)? */
bool leat_request_is_passing(const struct leat_request *r);

/* Is it an open that makes the file, or writes it? */
bool leat_request_makes(const struct leat_request *r);
/* One that may write it. */
bool leat_request_writes(const struct leat_request *r);

/* Is it a file that the step has declared? */
bool leat_request_is_declared(const struct leat_request *r);

/* What the step calls it. */
const char *leat_request_seen(const struct leat_request *r);

#endif
