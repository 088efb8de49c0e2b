/* One file of a trace while it is read, and which files there are. One thread at a time. */
#ifndef LEAT_IOTRACE_STREAM_H
#define LEAT_IOTRACE_STREAM_H

#include "iotrace/trace.h"

enum { LEAT_TRACE_WHY_BYTES = 1024 };

/* What a file has. */
enum leat_trace_part {
	LEAT_TRACE_CALLS,
	LEAT_TRACE_PROCESSES, /* with cgroups and mounts */
};

/* The first member of what an implementation has. */
struct leat_trace_stream {
	/* As leat_trace_read, of the one file. */
	int (*read)(struct leat_trace_stream *s, struct leat_trace_record *record);
	void (*release)(struct leat_trace_stream *s);
	char *path; /* owned */
	enum leat_trace_part part;
	struct leat_trace_head head; /* texts owned */
	struct leat_trace_tail tail; /* at the end; unless complete, of what was read */
	bool ended;                  /* the end is reached */
	char why[LEAT_TRACE_WHY_BYTES];
};

/* Opens a file of a trace: one of CSV, by what it has; one of blocks for `part`. 0; -EBADMSG when
 * it is no such file, or -errno; *why (of LEAT_TRACE_WHY_BYTES) then says so. */
int leat_trace_open_csv(const char *path, struct leat_trace_stream **s, char *why);
int leat_trace_open_blocks(const char *path, enum leat_trace_part part,
			   struct leat_trace_stream **s, char *why);

/* NULL is allowed; errno is preserved. */
void leat_trace_stream_free(struct leat_trace_stream *s);

/* The files at `path`, a trace or a directory with some: *n paths, the caller's, ordered by name.
 * 0; -EBADMSG when there is no trace, or -errno; *why then says so. */
int leat_trace_find(const char *path, char ***files, size_t *n, char *why);
void leat_trace_find_free(char **files, size_t n);

#endif
