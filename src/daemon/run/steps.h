/* Steps: when they run, what they did, what they wait for. */
#ifndef LEAT_DAEMON_RUN_STEPS_H
#define LEAT_DAEMON_RUN_STEPS_H

#include "daemon/core/state.h"
#include "daemon/core/step_state.h"

int leat_steps_init(struct leat_daemon *d);
void leat_steps_free(struct leat_daemon *d);

/* An instance begins: with a process, or as it is started. */
void leat_step_begin(struct leat_daemon *d, int step, pid_t pid, enum leat_run_event event);
/* A process of the step has come / is gone. */
void leat_step_process_came(struct leat_daemon *d, int step, pid_t pid);
void leat_step_process_left(struct leat_daemon *d, const struct leat_proc *p);
/* Whoever looks after an instance, the process `parent`, is gone: no STEP_END will come. */
void leat_step_abandoned(struct leat_daemon *d, int step, pid_t parent);
/* An instance has ended with `status` as from waitpid. */
void leat_step_ended(struct leat_daemon *d, int step, int status, const char *reason);
/* The kernel killed a process of it for want of memory, where s->oom does not count: `why` says
 * where, and by which limit. What the step makes of that is its own affair. */
void leat_step_killed(struct leat_daemon *d, int step, const char *why);
/* By the clock: instances that were found, whose processes are all gone. */
void leat_steps_settle(struct leat_daemon *d);

#endif
