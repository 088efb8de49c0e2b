/* Whose a process is: program, working directory, labels of its environment, cgroup and mounts, as
 * /proc has them. */
#ifndef LEAT_TRACE_WHO_H
#define LEAT_TRACE_WHO_H

#include "trace/mounts.h"
#include "trace/sink.h"

struct leat_trace_who;

/* Remembers which cgroups and mounts were said. `sink` is borrowed. NULL: out of memory. One
 * thread at a time, as for all of this. */
struct leat_trace_who *leat_trace_who_new(struct leat_trace_sink *sink);
void leat_trace_who_free(struct leat_trace_who *w);

/* The id of the cgroup (v2) of a process, written to the trace if it is new; 0 unknown. */
uint64_t leat_trace_who_cgroup(struct leat_trace_who *w, pid_t pid);

/* Write that the process now runs another program, after its cgroup and mounts if they are new.
 * Returns the id of its cgroup. */
uint64_t leat_trace_who_exec(struct leat_trace_who *w, pid_t ppid, pid_t pid, int64_t time_ns);

/* Write where file systems are seen by the process, if its mount namespace was not met before or
 * another has changed since. */
void leat_trace_who_mounts(struct leat_trace_who *w, pid_t pid);

/* The mounts that it knows. Borrowed. */
struct leat_mounts *leat_trace_who_views(struct leat_trace_who *w);

/* Type of the file system of that mount id (statx), as the process sees it; NULL unknown. Valid
 * until the next call on `w`. */
const char *leat_trace_who_filesystem(struct leat_trace_who *w, pid_t pid, uint64_t mount_id);

/* What of an environment (as in /proc/PID/environ) tells whose it is, as in struct
 * leat_trace_process. The caller frees it; NULL: nothing, or out of memory. Any thread. */
char *leat_trace_labels(const char *environment, size_t size);

#endif
