/* leat's own connection to the daemon: what `leat run`, exec, done and status
 * say to it. One request at a time; each blocks for its reply, which the daemon
 * sends at once, but for FINISH. */
#ifndef LEAT_CONTROL_H
#define LEAT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_control;

/* One EVENT message: a line for a person; error 0 is a warning. Called from within
 * requests and leat_control_receive; must not make requests. */
typedef void leat_control_event(void *ctx, int error, const char *text);

/* Connect to the daemon that serves the directory `dir` (a real path) and say
 * hello with the `kind` of control connection (daemon/daemon.h), which it has 30 seconds to answer.
 * `workflow` may be
 * "" for whatever is served. 0 or -errno: -ENOENT no daemon there, -EPROTO
 * another version; a refusal of the daemon is logged. */
int leat_control_open(const char *runtime_dir, const char *dir, const char *workflow, unsigned kind,
		      struct leat_control **control);

/* Where EVENT messages go; without it they are dropped. */
void leat_control_on_event(struct leat_control *c, leat_control_event *fn, void *ctx);

/* The daemon wants actions to be called (wire/wire.h); leat_control_acted tells that they were.
 * Called as above. */
struct leat_msg_act;
struct leat_msg_acted;
typedef void leat_control_act(void *ctx, const struct leat_msg_act *m);
void leat_control_on_act(struct leat_control *c, leat_control_act *fn, void *ctx);
/* 0 or -errno. */
int leat_control_acted(struct leat_control *c, const struct leat_msg_acted *m);

/* NULL is allowed; errno is preserved. */
void leat_control_close(struct leat_control *c);

/* The socket, to wait on; readable outside a request: leat_control_receive. */
int leat_control_fd(const struct leat_control *c);

/* The shared segment's descriptor, now the caller's; -1 when already taken. */
int leat_control_take_segment(struct leat_control *c);

/* Device number of the store. */
uint64_t leat_control_store_dev(const struct leat_control *c);

/* Tell that a step's root process was started, has ended (status as from
 * waitpid), or that no further instance of it will start. `program`: path of the file it will
 * execute, relative to the workflow's directory or absolute; `key`: what its environment has
 * as LEAT_KEY; `followed`: it is to load the library. `pid` 0: an earlier run has completed the
 * step, and nothing will execute. 0 or -errno. */
int leat_control_step_start(struct leat_control *c, const char *step, pid_t pid,
			    const char *program, const char *key, bool followed);
/* step_end: -EIO if the step has failed for the daemon although `status` is 0, its input having
 * failed for instance; leat_control_why says why, also of a step that failed by itself. */
int leat_control_step_end(struct leat_control *c, const char *step, pid_t pid, int status);
/* A process that a step has left behind was waited for by us; `status` as from waitpid. There is no
 * answer, so that it may be said while the run's end is awaited. */
int leat_control_reaped(struct leat_control *c, pid_t pid, int status);
int leat_control_step_done(struct leat_control *c, const char *step);

/* The step will not be started, or could not be: what it was to make fails. `why` in words.
 * 0 or -errno. */
int leat_control_step_fail(struct leat_control *c, const char *step, const char *why);

/* What the daemon added in words to its last answer; "" if nothing. Lives until the next request.
 */
const char *leat_control_why(const struct leat_control *c);

/* Does this result of a request mean that the daemon is gone? */
bool leat_control_is_lost(int result);

/* May this staged step start? 0 yes; -EAGAIN ask again; else the reason why it never will. */
int leat_control_ask_launch(struct leat_control *c, int step);

/* May step number `step` be launched for a further version of its inputs, a launch of it having
 * ended well just now (`ended`), or none having been made? 0, and leat_control_why is the file it
 * is for, as the step sees it ("" none in particular); -EAGAIN: an event with LEAT_WIRE_LAUNCHABLE
 * says when to ask again; -ENOENT never again; -EIO, and leat_control_why says why. */
int leat_control_ask_relaunch(struct leat_control *c, int step, bool ended);

/* Is all that the step made final, and on disk if permanent? 0, -EAGAIN not yet, else never. */
int leat_control_ask_settled(struct leat_control *c, int step);

/* Processes are stopped from now on: what those that steps have left behind write is not complete.
 * 0 or -errno. */
int leat_control_stopping(struct leat_control *c);

/* Fail what is not committed and end the daemon. 0 or -errno. */
int leat_control_abort(struct leat_control *c);

/* The daemon's status as JSON in *text (freed by the caller). 0 or -errno. */
int leat_control_status(struct leat_control *c, char **text);

/* The same for those who have more to do than to wait: the reply comes through
 * leat_control_receive. 0 or -errno. */
int leat_control_ask_status(struct leat_control *c);

/* Ask the daemon to bring all permanent files to disk and end; the reply comes
 * through leat_control_receive, with a timeline if that is wanted. 0 or -errno. */
int leat_control_finish(struct leat_control *c, bool timeline);

/* Take the message that is there, if one is; what a loop was woken for may have been taken by a
 * request of another callback. 1: the reply to FINISH or to a question for the status has come,
 * *error and *text (freed by the caller) are set; 0: nothing, an event, or a part of the reply;
 * -errno: the connection is gone. */
int leat_control_receive(struct leat_control *c, int *error, char **text);

#endif
