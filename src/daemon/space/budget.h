/* How much memory files between steps may take: as much as was asked for, else half of the tightest
 * limit; and no more than leaves what the steps themselves need. Pure: sees what it is told. */
#ifndef LEAT_DAEMON_SPACE_BUDGET_H
#define LEAT_DAEMON_SPACE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct leat_budget {
	uint64_t asked_bytes; /* 0: nothing was */
	uint64_t most_bytes;  /* whatever else is free */
	uint64_t now_bytes;
	uint64_t changed_ns;            /* when it was lowered, or raised, last */
	uint64_t window_ns, stalled_us; /* since when stalls are counted, and how many there were */
};

/* What is seen of the machine and its control groups. */
struct leat_budget_sight {
	uint64_t now_ns;
	uint64_t used_bytes;  /* by the files */
	uint64_t limit_bytes; /* the tightest, the machine's memory included */
	int64_t free_bytes;   /* for further files; below 0: there are too many */
	uint64_t stalled_us;  /* in which processes waited for memory, since whenever */
};

/* Space for files at a level that has a limit and so much left of it: steps need some of that
 * before they can be looked at again. */
int64_t leat_budget_free(uint64_t limit_bytes, uint64_t spare_bytes);

void leat_budget_update(struct leat_budget *budget, const struct leat_budget_sight *sight);

#endif
