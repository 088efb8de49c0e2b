/* Names with a symlink in them. */
#ifndef LEAT_LANG_CHECK_SYMLINK_H
#define LEAT_LANG_CHECK_SYMLINK_H

#include "model/workflow.h"

/* Where names of the workflow lead through symlinks to other directories of its directory `dir`
 * (absolute and resolved), add the names that they have there: with `d -> store` an output "d/x" is
 * "store/x", too. 0 or -ENOMEM. */
int leat_lang_follow_symlinks(struct leat_workflow *wf, const char *dir);

#endif
