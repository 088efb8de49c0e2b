/* Files that a step has for itself (`private` in the workflow file). A name that is private to a
 * step, and that nobody declares, means to the step a file in a directory of its own
 * (base/private.h); until it makes, changes or removes it, what was there before the run. To the
 * rules those files are excluded. */
#ifndef LEAT_DAEMON_OPS_PRIVATE_H
#define LEAT_DAEMON_OPS_PRIVATE_H

#include "daemon/ops/change_request.h"
#include "daemon/ops/request.h"
#include "store/list.h"

/* leat_user_find of what the program calls `path`. What only its step has is not found yet, so that
 * a ".." after it is taken as it is spelt. */
int leat_private_find(struct leat_conn *c, const char *path, enum leat_find how,
		      struct leat_found *found);
/* Make r->found what its step means by it. 0 or -errno. */
int leat_private_resolve(struct leat_request *r);

/* The same of the names of a CHANGE, once each is found. What the step removes without having made
 * it is hidden from it by leat_private_changed. */
int leat_private_find_from(struct leat_change_request *r, uint32_t change);
int leat_private_find_to(struct leat_change_request *r, uint32_t change);
void leat_private_changed(struct leat_change_request *r);

/* The directory of a listing, if only the step has it. 0 or -errno. */
int leat_private_find_dir(struct leat_conn *c, struct leat_found *found);
/* May the step see the entry `name` of directory `dir` as all do? */
bool leat_private_shows(struct leat_conn *c, const char *dir, const char *name);
/* Add what it has there itself. `add` returns 0 or -ENOMEM. 0 or -errno. */
int leat_private_list(struct leat_conn *c, const char *dir,
		      int (*add)(void *ctx, const struct leat_store_entry *e), void *ctx);

#endif
