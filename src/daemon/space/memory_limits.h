/* The limits on memory under which the daemon and the processes of the steps are, and what the
 * budget for files is because of them (budget.h). Pages of a file count where the process is that
 * wrote them: the groups of all steps matter, which need not be the daemon's. */
#ifndef LEAT_DAEMON_SPACE_MEMORY_LIMITS_H
#define LEAT_DAEMON_SPACE_MEMORY_LIMITS_H

#include "daemon/space/budget.h"

#include <stddef.h>
#include <sys/types.h>

struct leat_cgroup;

struct leat_limits {
	struct leat_budget budget;
	struct leat_limits_group {
		struct leat_cgroup *cgroup; /* owned */
		bool is_limited;
		bool is_met; /* stalled_us was read */
		uint64_t stalled_us;
		uint64_t others_bytes, others_ns; /* what was not files' a moment ago */
	} * groups;                               /* owned; the daemon's own first */
	size_t n_groups;
	uint64_t looked_ns;     /* for groups with limits */
	uint64_t machine_bytes; /* its memory */
	int64_t machine_free;   /* in it, when it was looked at last */
	uint64_t machine_ns;
	uint64_t limit_bytes; /* the tightest there is */
	bool is_limited;      /* it is not the machine's memory */
	uint64_t stalled_us;  /* of all groups, since they were met */
};

/* Begin to watch. `asked_bytes` 0: none were asked for. */
void leat_limits_init(struct leat_limits *limits, uint64_t asked_bytes);
void leat_limits_release(struct leat_limits *limits);
/* A process that writes files has come. True: so has its control group. *group is it, for the
 * caller to close; NULL: not known. */
bool leat_limits_meet(struct leat_limits *limits, pid_t pid, struct leat_cgroup **group);
/* Look again: limits change, and so does what is left of them. */
void leat_limits_look(struct leat_limits *limits, uint64_t used_bytes, uint64_t now_ns);

#endif
