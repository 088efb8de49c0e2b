/* Programs that are started: what is known before they speak, and those that never do. */
#ifndef LEAT_TRACE_PRELOAD_PROGRAMS_H
#define LEAT_TRACE_PRELOAD_PROGRAMS_H

#include "trace/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* An exec that is under way. */
struct leat_trace_start {
	int64_t time_ns; /* CLOCK_MONOTONIC */
	char *program;   /* owned; NULL: none is under way */
	char *dir;       /* owned */
	bool elsewhere;  /* its root directory or mounts are not the tracer's */
};

/* Without memory there is none. */
void leat_trace_start_set(struct leat_trace_start *s, int64_t time_ns, const char *program,
			  const char *dir, bool elsewhere);
void leat_trace_start_clear(struct leat_trace_start *s);

/* Programs by name, with how often they ran. All 0 at first. */
struct leat_trace_programs {
	struct leat_trace_program *list; /* owned: those that were not seen */
	struct leat_trace_known *known;  /* owned: what leat_trace_programs_run found out */
};

/* Why calls of a program behind a mount are not seen that go past it. */
extern const char leat_trace_past_mount[];

/* It ran so often, unseen; `why`, static text, NULL: as its file tells. */
void leat_trace_programs_add(struct leat_trace_programs *p, const char *program, uint64_t times,
			     const char *why);
/* Says which they are, and why they cannot be seen, and writes that to the trace. */
void leat_trace_programs_report(const struct leat_trace_programs *p, struct leat_trace_sink *sink);
void leat_trace_programs_release(struct leat_trace_programs *p);

/* What runs when `program` is executed, as the kernel names it: its real path, or for a script that
 * of its interpreter. Remembered, for as long as the same file has that name. Valid until the next
 * call; NULL: it is not there any more, or no memory. *unheard: it has an obstacle, as below. */
const char *leat_trace_programs_run(struct leat_trace_programs *p, const char *program,
				    bool *unheard);

/* Why the library cannot be loaded into a program ("statically linked"), or NULL: it can, as far as
 * its file tells. Static text. */
const char *leat_trace_program_obstacle(const char *program);

#endif
