/* The semantic checks of a workflow: what no front end can see in one place.
 *
 * An error is reported only where a run would certainly go wrong or a rule can
 * never mean anything; what may be meant is a warning. */
#ifndef LEAT_LANG_CHECK_CHECK_H
#define LEAT_LANG_CHECK_CHECK_H

#include "base/diag.h"
#include "model/workflow.h"

#include <stdbool.h>

/* Run all checks. `dir` is the workflow's directory, NULL to leave out what depends on it; `ready`:
 * inputs, images, action files and storage devices have to be there, which otherwise may come
 * later. 0 (whatever was found: count the errors in `d`) or -ENOMEM. Any thread. */
int leat_check_workflow(const struct leat_workflow *wf, const char *dir, bool ready,
			struct leat_diags *d);

#endif
