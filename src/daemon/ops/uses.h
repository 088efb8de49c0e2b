/* Which names the steps use: reported to the rules, which find steps that get in each other's way
 * (docs/explanation/conflicts.md). */
#ifndef LEAT_DAEMON_OPS_USES_H
#define LEAT_DAEMON_OPS_USES_H

#include "daemon/ops/change_request.h"
#include "daemon/ops/request.h"

/* How a step uses a name. */
struct leat_use_report {
	const char *name; /* borrowed */
	enum leat_use use;
	unsigned flags;    /* LEAT_EVF_... */
	const char *other; /* the name of the same file that LINK is given; or NULL */
};

/* The client's step uses a name so: tell the rules, if it is news to them or must be told `anyway`.
 * 0; -EIO: it must not, which is reported. */
int leat_uses_report(struct leat_conn *c, const struct leat_use_report *report, bool anyway);

/* The client's path has led through these symlinks: 0; -EIO: it must not, which is reported. */
int leat_uses_links(struct leat_conn *c, const struct leat_found *found);

/* The path ends at `found`, which is no directory: 0 or -EIO, likewise. */
int leat_uses_met(struct leat_conn *c, const struct leat_found *found);

/* Something is, or was to be, made in the directory of `found`. 0; -EIO: it must not be, which is
 * reported. */
int leat_uses_parent(struct leat_conn *c, const struct leat_found *found);

/* The client is about to make the call of the request. 0; -EIO: it must not, which is reported.
 * What has to wait for another step's end first is reported when it comes again. */
int leat_uses_resolve(struct leat_request *r);

/* The same of a CHANGE; -EAGAIN with r->on set: wait. */
int leat_uses_change(struct leat_change_request *r, uint32_t change);

#endif
