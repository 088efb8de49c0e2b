/* A write that found no space, or may have found none. Event loop only. */
#ifndef LEAT_DAEMON_SPACE_REFUSE_H
#define LEAT_DAEMON_SPACE_REFUSE_H

#include "daemon/core/state.h"

/* `step` (-1: none) was refused a write to `f`: it has failed, and it is reported, once, that and
 * why: -ENOSPC the disk is full, too; -ENOTSUP or -EBUSY the file cannot go there. */
void leat_space_refuse(struct leat_daemon *d, int step, struct leat_file *f, int why);

/* A program of `step` is about to write `f` in the store, unseen, and it cannot go to disk. */
void leat_space_stays(struct leat_daemon *d, int step, struct leat_file *f, int why);
/* Is the store full? Then such a program finds no space, and nobody but it hears of that. To be
 * called before something leaves the store, and now and then. */
void leat_space_watch(struct leat_daemon *d);

/* `step` has failed with `status`: if files that it reads have been moved since it began, that may
 * be why. */
void leat_space_blame_moves(struct leat_daemon *d, int step, int status);

#endif
