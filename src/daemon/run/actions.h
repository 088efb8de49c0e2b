/* Actions: user code that is called when processes of a step open and close its files, and decides
 * when what they wrote is passed on. It runs in processes of the driver, one for each rank of the
 * step, which are called by ACT and answer by ACTED (wire/wire.h). */
#ifndef LEAT_DAEMON_RUN_ACTIONS_H
#define LEAT_DAEMON_RUN_ACTIONS_H

#include "daemon/core/state.h"

struct leat_description;

/* Has the step of that number actions? */
bool leat_actions_of(const struct leat_daemon *d, int step);

/* Where the actions stand that a client's call has to wait for. */
enum leat_actions_answer {
	LEAT_ACTIONS_OVER, /* they have been called, or there are none: it goes on */
	LEAT_ACTIONS_DUE,  /* they are to be called */
	LEAT_ACTIONS_WAIT, /* they are called now */
	LEAT_ACTIONS_FAILED,
	LEAT_ACTIONS_NO_MEMORY,
};

/* What the client's call gets: 0 or -errno. */
int leat_actions_error(enum leat_actions_answer answer);

/* The client is about to open a file that its step has declared, and calls `seen`.
 * LEAT_ACTIONS_WAIT: on *on; LEAT_ACTIONS_DUE: leat_actions_call_before. */
enum leat_actions_answer leat_actions_before_open(struct leat_conn *c, const char *seen,
						  struct leat_file **on);
/* Call them: LEAT_ACTIONS_WAIT on `f`, or LEAT_ACTIONS_NO_MEMORY. */
enum leat_actions_answer leat_actions_call_before(struct leat_conn *c, const char *seen,
						  struct leat_file *f, bool writes);
/* That RESOLVE has been answered; `again`: it will come again. */
void leat_actions_resolved(struct leat_conn *c, bool again);

/* `l` is a description the client is about to have of a file that it calls `seen`. 0 or -ENOMEM. */
int leat_actions_opens(struct leat_conn *c, const char *seen, struct leat_description *l);
/* The client asks whether the actions have been called for its open, or close, of `f`. */
enum leat_actions_answer leat_actions_ask(struct leat_conn *c, struct leat_file *f, bool closed,
					  uint64_t ofd);
/* That was the true last close of the description, the close itself having been reported already.
 */
void leat_actions_closed(struct leat_daemon *d, const struct leat_description *l, bool abnormal);
/* The file is complete. */
void leat_actions_committed(struct leat_daemon *d, const struct leat_file *f);

/* Nobody waits for what was called for the client any more. */
void leat_actions_forget(struct leat_conn *c);
void leat_actions_free(struct leat_daemon *d);

int leat_handle_acted(struct leat_conn *c, const void *msg);

#endif
