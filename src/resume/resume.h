/* What a run leaves behind (place.h tells where) so that another one can go on where it ended: the
 * record, a file that says of each step whether it is complete, and how its inputs and
 * outputs looked. docs/howto/resume.md tells what counts as unchanged, docs/adr/0018 why.
 *
 * Single-threaded. Names are relative to the workflow's directory. */
#ifndef LEAT_RESUME_RESUME_H
#define LEAT_RESUME_RESUME_H

#include "model/match.h"

#include <stdbool.h>

struct leat_resume;

/* For the workflow and its matcher, both borrowed, in the directory `dir` (a real path, copied).
 * NULL when out of memory. */
struct leat_resume *leat_resume_new(const struct leat_workflow *wf, struct leat_matcher *m,
				    const char *dir);
/* NULL is allowed. */
void leat_resume_free(struct leat_resume *r);

/* Read the record of the last run, compare it with what is there now, and decide which steps need
 * not run. Without this, or without a record, all of them run. 0; -EBADMSG it is no record of
 * leat's, or broken; other -errno. Failures are logged, and nothing is changed. */
int leat_resume_load(struct leat_resume *r);

/* Need the step not run? */
bool leat_resume_skips(const struct leat_resume *r, size_t step);
/* Why it is skipped or run again; NULL if leat_resume_load was not called. Borrowed. */
const char *leat_resume_why(const struct leat_resume *r, size_t step);

/* The run begins: look at the inputs, and replace the record by one in which the steps that run
 * are not complete. A record that cannot be kept is a warning here and below, given once: the
 * run goes on, but cannot be resumed. */
void leat_resume_begin(struct leat_resume *r);

/* The step is complete: it ended well, and so did all upstream of it; its outputs are on disk. */
void leat_resume_complete(struct leat_resume *r, size_t step);
/* It is not, for the reason given, also if it was thought to be. */
void leat_resume_incomplete(struct leat_resume *r, size_t step, const char *why);
bool leat_resume_is_complete(const struct leat_resume *r, size_t step);

/* The run is over, and modes and times of its outputs are final: write the record anew. Only a
 * daemon changes times after a step is complete. */
void leat_resume_finish(struct leat_resume *r, bool had_daemon);

#endif
