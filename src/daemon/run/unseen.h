/* Programs that nobody has followed: the roll (shm/roll.h), and what is made of it. Their steps
 * cannot end well. Event loop only. */
#ifndef LEAT_DAEMON_RUN_UNSEEN_H
#define LEAT_DAEMON_RUN_UNSEEN_H

#include "daemon/core/state.h"

/* Make the roll, in the session's directory. 0 or -errno. */
int leat_unseen_init(struct leat_daemon *d);
void leat_unseen_release(struct leat_daemon *d);

/* The process, the step's root or another user's, is about to become `program`, which loads the
 * library. */
void leat_unseen_start(struct leat_daemon *d, int step, pid_t pid, const char *program);
/* A process was waited for; `status` as from waitpid. */
void leat_unseen_ended(struct leat_daemon *d, pid_t pid, int status);
/* Another user's, who cannot write to the roll: it is about to become a program (not so, if that is
 * "", which may be said of that user's processes only); that one is followed; it was waited for. */
void leat_unseen_becomes(struct leat_daemon *d, int step, pid_t pid, const char *program,
			 uid_t uid);
void leat_unseen_came(struct leat_daemon *d, pid_t pid);
void leat_unseen_gone(struct leat_daemon *d, pid_t pid, int status, uid_t uid);
/* The first of the process's ancestors that is followed as one of the step: it may have nothing to
 * do with files itself, like a shell that starts the others. A pidfd, or -1: there is none. */
int leat_unseen_root(const struct leat_daemon *d, int step, pid_t pid);
/* Nothing is expected of it. */
void leat_unseen_forget(struct leat_daemon *d, pid_t pid);

/* The step ends: who of it was not followed is named. */
void leat_unseen_collect(struct leat_daemon *d, int step);
/* The run ends: the same of all, and those are awaited that may still be loading their libraries.
 */
void leat_unseen_await(struct leat_daemon *d);

#endif
