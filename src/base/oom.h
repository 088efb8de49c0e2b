/* Was a process killed by the kernel because memory was full, or not started because there were too
 * many? */
#ifndef LEAT_BASE_OOM_H
#define LEAT_BASE_OOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_cgroup;

struct leat_oom {
	struct leat_cgroup *group; /* owned; NULL: not known */
	uint64_t kills, refused;
};

/* Begin to watch the control group of a process (0: this one). */
void leat_oom_begin(struct leat_oom *oom, pid_t pid);
/* The same of a group that is taken over; NULL: not known. */
void leat_oom_begin_in(struct leat_oom *oom, struct leat_cgroup *group);
void leat_oom_end(struct leat_oom *oom);
/* Processes that were killed so since then. */
uint64_t leat_oom_kills(const struct leat_oom *oom);
/* What was full, and what to do, in words: "out of memory: ..."; the caller frees it. NULL when
 * nothing was killed since, or out of memory. */
char *leat_oom_explain(const struct leat_oom *oom);
/* The same if processes or threads could not be started: "... could not be started: ...". */
char *leat_oom_explain_refused(const struct leat_oom *oom);
/* Is that a status, as from waitpid, of a process killed so, or of a shell whose child was? */
bool leat_oom_is_status(int wait_status);

#endif
