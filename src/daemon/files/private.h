/* Where files are that steps have for themselves (`private` in the workflow file), and what is
 * hidden from them: they lie in a directory of leat's in the workflow's (base/private.h). Event
 * loop only. */
#ifndef LEAT_DAEMON_FILES_PRIVATE_H
#define LEAT_DAEMON_FILES_PRIVATE_H

#include "daemon/core/state.h"

/* What is left of killed runs goes. */
void leat_private_init(struct leat_daemon *d);
void leat_private_release(struct leat_daemon *d);

/* By which name the step's own `name` is known. False: it has none at all, or that is too long. */
bool leat_private_name(const struct leat_daemon *d, int step, const char *name, char out[PATH_MAX]);
/* Have the directories in which the step's own `name` is to be. 0 or -errno. */
int leat_private_make_parents(struct leat_daemon *d, int step, const char *name);

/* The step has removed what was there before the run; has it, or a directory above? */
void leat_private_hide(struct leat_daemon *d, int step, const char *name);
bool leat_private_hides(const struct leat_daemon *d, int step, const char *name);
/* The same of some name below a directory: `below`. */
bool leat_private_hides_below(const struct leat_daemon *d, int step, const char *dir,
			      char below[PATH_MAX]);

/* What is there is in the way of staged steps. */
void leat_private_show(struct leat_daemon *d);

/* The step has ended: so have its files. */
void leat_private_step_over(struct leat_daemon *d, int step);

#endif
