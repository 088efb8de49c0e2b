/* Which files are moved between store and spill directory next. */
#ifndef LEAT_DAEMON_SPACE_CANDIDATES_H
#define LEAT_DAEMON_SPACE_CANDIDATES_H

#include "daemon/core/state.h"

#define LEAT_CANDIDATES 64u

/* The best of those in one place that were looked at last, best first. Moving is slow, and so is
 * looking: those that were chosen are taken one by one, and only then files are looked at again. */
struct leat_candidates {
	struct leat_candidate {
		struct leat_file *f;
		bool wanted; /* some step has declared it, and may still read it */
		bool in_use; /* it was asked for just now */
	} v[LEAT_CANDIDATES];
	unsigned n, next;
	uint64_t found_ns; /* when files were looked at, */
	uint64_t find_ns;  /* and how long that took */
};

/* May some client be about to use the place of the file? */
bool leat_file_is_held(const struct leat_daemon *d, const struct leat_file *f, uint64_t now);
/* The next of `q` that can be moved from `root` (STORE or SPILL, the same in all calls of `q`) and
 * was not asked for since it was found. Its entry is valid until the next call. NULL: there is
 * none, or it is too early to look again. From the loop only. */
const struct leat_candidate *leat_candidates_take(struct leat_daemon *d, struct leat_candidates *q,
						  enum leat_root root);

#endif
