/* Which step a process belongs to, under --enforce: by what STEP_START said when the step was
 * started, not by the process's own word. A process that descends from one the step was started
 * as is of that step. One whose ancestors are gone shows the key that the step's processes were
 * given in their environment. Event loop only. */
#ifndef LEAT_DAEMON_OPS_AUTH_TOKEN_H
#define LEAT_DAEMON_OPS_AUTH_TOKEN_H

#include "daemon/core/state.h"

/* An instance of the step was started as process `pid`, and given `key`. 0, -ENOMEM, or -ESRCH:
 * it is gone. */
int leat_auth_token_add(struct leat_daemon *d, int step, pid_t pid, const char *key);

/* Is it certainly no process of a step's? One whose ancestors are gone is none, but that under
 * --sealed it must be in the mount namespace the daemon was started in. */
bool leat_auth_token_is_outside(const struct leat_daemon *d, pid_t pid);

/* Number of the process's mount namespace, 0: not known. */
ino_t leat_auth_token_mounts_of(pid_t pid);

/* May process `pid` act for `step`? NULL: yes; else why not, freed by the caller. */
char *leat_auth_token_refuse(const struct leat_daemon *d, pid_t pid, int step, const char *key);

void leat_auth_tokens_free(struct leat_daemon *d);

#endif
