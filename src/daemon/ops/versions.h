/* Files that steps see by other names than they are made by, or in versions (stream/stream.h,
 * leat_stream_version). */
#ifndef LEAT_DAEMON_OPS_VERSIONS_H
#define LEAT_DAEMON_OPS_VERSIONS_H

#include "daemon/ops/request.h"
#include "store/list.h"

/* `found` is what the client named: make it what is meant by that in a call that looks (LOOK),
 * reads (OPEN) or makes it anew (WRITE). The name as the step sees it goes to `seen`, if it is
 * another and `seen` is not NULL. 0 or -errno. */
int leat_versions_find(struct leat_conn *c, enum leat_call call, struct leat_found *found,
		       char seen[PATH_MAX]);

/* The same of what a request has named. A rank of an MPI job that may not go on among its versions
 * gets -EACCES or -EIO, which is reported. */
int leat_versions_resolve(struct leat_request *r, enum leat_call call);

/* Does the step make files that are read in versions? */
bool leat_versions_made_by(const struct leat_daemon *d, int step);

/* A producer opens a new version of r->seen for writing: it finds there what was in the one
 * before. 0 or -errno. */
int leat_versions_carry_over(struct leat_request *r);

/* The client opens r->file, a version, to read it: the id of the description; 0: it is none. */
uint64_t leat_versions_take(struct leat_request *r);

/* A producer removes a version that is complete: it is gone for itself only. */
bool leat_versions_keep(struct leat_conn *c, const char *name);

/* May the entry `name` of directory `dir` be shown to the step as what it is? */
bool leat_versions_shows(struct leat_conn *c, const char *dir, const char *name);
/* Add what the step sees in directory `dir` that is not there by that name. `add` returns 0 or
 * -ENOMEM. 0 or -errno. */
int leat_versions_list(struct leat_conn *c, const char *dir,
		       int (*add)(void *ctx, const struct leat_store_entry *e), void *ctx);
/* The directory, beside `dir` itself, whose listing decides when that of `dir` is complete: the
 * n-th. False: there are no more. */
bool leat_versions_list_behind(struct leat_conn *c, const char *dir, size_t n, char out[PATH_MAX]);

#endif
