/* Removing files, in every place that they are in. Event loop only. */
#ifndef LEAT_DAEMON_FILES_REMOVE_H
#define LEAT_DAEMON_FILES_REMOVE_H

#include "daemon/core/state.h"

/* Unlink, as `user`, the file `name` of the store, wherever it lies, if it is there. */
void leat_unlink_ours(struct leat_daemon *d, const struct leat_user *user, const char *name);

/* Unlink, as `user`, `name` in every place it is in. 0 or -errno. */
int leat_unlink_everywhere(struct leat_daemon *d, const struct leat_user *user, const char *name);

/* Remove `name` and apply its UNLINK to the rules, in the name of `step`. 0 or -errno. */
int leat_file_remove(struct leat_daemon *d, const struct leat_user *user, const char *name,
		     int step, pid_t pid);

/* `step` has removed it from every place: its record is retired, and the rules hear of it. `flags`:
 * LEAT_EVF_DIR or 0. */
void leat_file_removed(struct leat_daemon *d, struct leat_file *f, const char *name, int step,
		       pid_t pid, unsigned flags);

/* `step` removes it as a consumer, while others want it: it goes for that step and those after it,
 * and for all, as `user`, when they are done. 0 or -ENOMEM. */
int leat_file_hide_from(struct leat_daemon *d, struct leat_file *f, const struct leat_user *user,
			int step);

/* Is there a step other than `step` that may still want to read it, and does not come after that in
 * a batch, where it would find nothing? */
bool leat_file_is_wanted(struct leat_daemon *d, const struct leat_file *f, int step);
/* Is there one among those that both come before `step` and after it, in a circle? */
bool leat_file_is_wanted_around(struct leat_daemon *d, const struct leat_file *f, int step);

/* Files that a consumer removed for itself go when all others are done with them. */
void leat_files_remove_hidden(struct leat_daemon *d);

#endif
