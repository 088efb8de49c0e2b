/* Where a tracer puts its records: past the filter, into the trace, counted. */
#ifndef LEAT_TRACE_SINK_H
#define LEAT_TRACE_SINK_H

#include "trace/tracer.h"

struct leat_trace_sink {
	const struct leat_trace_request *request; /* borrowed */
	struct leat_trace_progress own;           /* if the request has none */
	struct leat_trace_progress *progress;     /* borrowed, or own */
	bool types[128];                          /* wanted */
	int error;                                /* of the first write that failed; 0 */
};

/* To be used by the tracer's thread only, as all of this. `request` is borrowed. */
void leat_trace_sink_init(struct leat_trace_sink *s, const struct leat_trace_request *request);

/* Is a file of that path (absolute) and file system (NULL: unknown) let through? */
bool leat_trace_sink_wants_file(const struct leat_trace_sink *s, const char *path,
				const char *filesystem);

/* Is a process of that user and group let through? */
bool leat_trace_sink_wants_user(const struct leat_trace_sink *s, uid_t uid, gid_t gid);

/* Write a record. Calls of types that are not wanted are left out. After a failed write, which is
 * reported, what follows is counted as lost. */
void leat_trace_sink_call(struct leat_trace_sink *s, const struct leat_trace_call *call);
void leat_trace_sink_process(struct leat_trace_sink *s, const struct leat_trace_process *process);
void leat_trace_sink_cgroup(struct leat_trace_sink *s, const struct leat_trace_cgroup *cgroup);
void leat_trace_sink_mount(struct leat_trace_sink *s, const struct leat_trace_mount *mount);

void leat_trace_sink_unseen(struct leat_trace_sink *s, const struct leat_trace_unseen *unseen);

/* That many more records are missing. */
void leat_trace_sink_lost(struct leat_trace_sink *s, enum leat_trace_loss why, uint64_t count);

#endif
