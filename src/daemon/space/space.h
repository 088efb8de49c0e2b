/* The memory budget, and where files go that it has no space for. */
#ifndef LEAT_DAEMON_SPACE_SPACE_H
#define LEAT_DAEMON_SPACE_SPACE_H

#include "daemon/core/state.h"
#include "daemon/space/candidates.h"
#include "daemon/space/memory_limits.h"

struct leat_daemon_space {
	char path[PATH_MAX]; /* real path of the private directory; "": not made yet */
	const char *below;   /* the part of it below the workflow's directory, or NULL */
	int fd;
	bool refused; /* it cannot be made */
	struct leat_limits limits;
	uint64_t budget_bytes, used_bytes;
	uint64_t looked_ns;  /* when used_bytes was found, */
	uint64_t look_ns;    /* and how long that took, where all files had to be looked at */
	uint64_t largest_ns; /* when all files were looked at for the largest, */
	uint64_t find_ns;    /* and how long that took */
	struct leat_candidates going, coming; /* to the spill directory, and back */
	uint64_t fitted_ns;                   /* when the limits were looked at */
	uint64_t full_ns;                     /* when there was no space left in it, 0: never */
	uint64_t moved_bytes;                 /* since the run began */
	bool has_unseen; /* some file that is written unseen cannot be moved (refuse.h) */
};

#endif
