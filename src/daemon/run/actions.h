/* Actions: user code that is called when processes of a step open and close its files, and decides
 * when what they wrote is passed on. It runs in processes of the driver, one for each rank of the
 * step, which are called by ACT and answer by ACTED (wire/wire.h). */
#ifndef LEAT_DAEMON_RUN_ACTIONS_H
#define LEAT_DAEMON_RUN_ACTIONS_H

#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/ops/resolve.h"

/* Has the step of that number actions? */
bool leat_acts_of(const struct leat_daemon *d, int step);

/* The client is about to open r->found, a file its step has declared: 0 go on; -EAGAIN the
 * actions are called, r->file is set to wait on; -EIO they have failed. */
int leat_acts_before_open(struct leat_request *r);
/* That RESOLVE has been answered so; -EAGAIN: it will come again. */
void leat_acts_resolved(struct leat_conn *c, int error);

/* `l` is a description the client of `r` is about to have. 0 or -ENOMEM. */
int leat_acts_opens(struct leat_request *r, struct leat_live *l);
/* The same when it opens the file to read it, `ofd` being the description or 0: the id of the
 * description. */
uint64_t leat_acts_reads(struct leat_request *r, uint64_t ofd);
/* The client asks whether the actions have been called for its open, or close, of `f`. 0, -EAGAIN
 * or -EIO. */
int leat_acts_ask(struct leat_conn *c, struct leat_file *f, bool closed, uint64_t ofd);
/* That was the true last close of the description, the close itself being told already. */
void leat_acts_closed(struct leat_daemon *d, const struct leat_live *l, bool abnormal);
/* The file is complete. */
void leat_acts_committed(struct leat_daemon *d, const struct leat_file *f);

/* Nobody waits for what was called for the client any more. */
void leat_acts_forget(struct leat_conn *c);
void leat_acts_free(struct leat_daemon *d);

int leat_handle_acted(struct leat_conn *c, const void *msg);

#endif
