/* What leat keeps of directories of workflows goes when nobody has used it for long, so that it
 * does not grow for ever. Any thread. */
#ifndef LEAT_RESUME_PRUNE_H
#define LEAT_RESUME_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept of one directory of workflows. */
struct leat_prune {
	char name[64];
	int64_t used_s; /* when a run was last there, since the epoch */
	bool goes;
};

/* So many are kept, for so long after the last run. Of more than these goes what has not been used
 * for a day: what a run is writing to is not taken from it. */
#define LEAT_PRUNE_MOST 1000u
#define LEAT_PRUNE_UNUSED_S (INT64_C(180) * 86400)
#define LEAT_PRUNE_LEAST_S INT64_C(86400)
/* It is looked for them no more often than this. */
#define LEAT_PRUNE_EVERY_S INT64_C(3600)

/* Decide which of `n` go, at the time `now_s`; orders them, the last used first. Pure. */
void leat_prune_decide(struct leat_prune *all, size_t n, int64_t now_s);

/* Remove those of this user below the directory `base_fd`, not the one called `keep`, unless that
 * was done less than an hour ago. What cannot be removed stays, and so does what leat has not put
 * there. */
void leat_prune(int base_fd, const char *keep);

#endif
