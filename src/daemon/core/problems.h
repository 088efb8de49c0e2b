/* Problems of the run, reported to a person. Event loop only. */
#ifndef LEAT_DAEMON_CORE_PROBLEMS_H
#define LEAT_DAEMON_CORE_PROBLEMS_H

#include "daemon/core/state.h"

/* One line for a person: kept for the summary and sent to who asked for EVENTs,
 * else logged. `error` 0: a warning; else the run has failed. */
void leat_problem_add(struct leat_daemon *d, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A text that a client has sent, with the names of places as people know them; the caller frees it.
 * NULL when out of memory. leat_problem_add does that itself. */
char *leat_problem_text(const struct leat_daemon *d, const char *text);

/* Tell those who asked for EVENTs that a step, by its number, may be launched again. */
void leat_problems_launchable(struct leat_daemon *d, const char *step);

struct leat_problem {
	int error;
	char *text; /* owned */
	struct leat_problem *prev, *next;
};

void leat_problems_free(struct leat_daemon *d);

#endif
