/* Actions: user code that is called when processes of a step open and close its files, and decides
 * when what they wrote is passed on. It runs in processes of the driver, one for each rank of the
 * step, which are called by ACT and answer by ACTED (wire/wire.h). */
#ifndef LEAT_DAEMON_RUN_ACTIONS_H
#define LEAT_DAEMON_RUN_ACTIONS_H

#include "daemon/core/state.h"

struct leat_description;

/* Has the step of that number actions? */
bool leat_actions_of(const struct leat_daemon *d, int step);

enum { LEAT_ACTIONS_DUE = 1 };

/* The client is about to open a file that its step has declared, and calls `seen`: 0 go on; -EAGAIN
 * the actions have been called, wait on *on; -EIO they have failed; LEAT_ACTIONS_DUE: they are to
 * be called. */
int leat_actions_before_open(struct leat_conn *c, const char *seen, struct leat_file **on);
/* Call them. -EAGAIN: wait on `f`; -ENOMEM. */
int leat_actions_call_before(struct leat_conn *c, const char *seen, struct leat_file *f,
			     bool writes);
/* That RESOLVE has been answered so; -EAGAIN: it will come again. */
void leat_actions_resolved(struct leat_conn *c, int error);

/* `l` is a description the client is about to have of a file that it calls `seen`. 0 or -ENOMEM. */
int leat_actions_opens(struct leat_conn *c, const char *seen, struct leat_description *l);
/* The client asks whether the actions have been called for its open, or close, of `f`. 0, -EAGAIN
 * or -EIO. */
int leat_actions_ask(struct leat_conn *c, struct leat_file *f, bool closed, uint64_t ofd);
/* That was the true last close of the description, the close itself being told already. */
void leat_actions_closed(struct leat_daemon *d, const struct leat_description *l, bool abnormal);
/* The file is complete. */
void leat_actions_committed(struct leat_daemon *d, const struct leat_file *f);

/* Nobody waits for what was called for the client any more. */
void leat_actions_forget(struct leat_conn *c);
void leat_actions_free(struct leat_daemon *d);

int leat_handle_acted(struct leat_conn *c, const void *msg);

#endif
