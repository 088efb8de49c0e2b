/* What lies on disk when a staged step starts, and what it has done to that. Nobody hears of it
 * while the step runs; it is compared at its end. Event loop only. */
#ifndef LEAT_DAEMON_RUN_PREPARED_H
#define LEAT_DAEMON_RUN_PREPARED_H

#include "daemon/core/state.h"

/* The step is about to start. Of what there is on disk of outputs of the run, and of the
 * directories that these lie in, it is remembered how it is. 0 or -ENOMEM. */
int leat_prepared_note(struct leat_daemon *d, int step);

/* It has ended. What it has removed is removed, what it has changed without declaring it is a
 * violation, and who reads that later reads it as it is on disk; modes, owners and times that it
 * gave are taken over. Before what it made is adopted. */
void leat_prepared_judge(struct leat_daemon *d, int step);

/* Was `name` there before the step? */
bool leat_prepared_has(const struct leat_daemon *d, int step, const char *name);
/* Was `name`, which is on disk as `st`, there before the step, and is as it was? */
bool leat_prepared_is_untouched(const struct leat_daemon *d, int step, const char *name,
				const struct stat *st);

/* Modes and times of directories are taken over, too, after that. All is forgotten. */
void leat_prepared_finish(struct leat_daemon *d, int step);

void leat_prepared_free(struct leat_daemon *d, int step);

#endif
