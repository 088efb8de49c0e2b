/* The files of actions, before anything runs. */
#ifndef LEAT_DRIVER_ACTIONS_H
#define LEAT_DRIVER_ACTIONS_H

#include "base/diag.h"
#include "model/workflow.h"

/* The action file, which is named relative to the workflow file: its real path, the caller's. NULL
 * and errno. */
char *leat_actions_path(const struct leat_workflow *wf, const char *file);

/* Load the actions of all steps once by `command` (leat-action), and report those that cannot be,
 * or not within `timeout_s` seconds. 0, or -errno if they could not be looked at. */
int leat_actions_check(const struct leat_workflow *wf, const char *command, unsigned timeout_s,
		       struct leat_diags *diags);

#endif
