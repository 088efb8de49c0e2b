/* Times of files: what a step makes of an input is newer than that, as in a batch, where it begins
 * when the input is complete. Here both may be written within one tick of the clock, or what is
 * last done to the input comes later (docs/adr/0074). Times that a program has set are left alone.
 *
 * Event loop only. */
#ifndef LEAT_DAEMON_FILES_TIMES_H
#define LEAT_DAEMON_FILES_TIMES_H

#include "daemon/files/files.h"

/* The file, of which `st` is known, in `root`, is complete: have it newer than what its producers
 * have read so far. `st` is what it is now. */
void leat_times_commit(struct leat_daemon *d, struct leat_file *f, enum leat_root root,
		       struct stat *st);

/* `step` has moved it here from outside of the workflow's directory, where `st` was what it was: a
 * time that an input of the step has was given to it there (cp -p, touch -r). */
void leat_times_arrived(struct leat_daemon *d, struct leat_file *f, int step,
			const struct stat *st);

/* Mode, owner, times and attributes of the file on disk, if it was saved, are those that it has
 * been given since. */
void leat_times_refresh(struct leat_daemon *d, struct leat_file *f);

/* The run is over, and all is saved: modes, owners and times on disk are those of the run. */
void leat_times_finish(struct leat_daemon *d);

void leat_times_free(struct leat_daemon *d);

#endif
