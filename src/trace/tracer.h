/* What every tracer is: one of four ways to find out what a command does to files. All say the same
 * of the same program. */
#ifndef LEAT_TRACE_TRACER_H
#define LEAT_TRACE_TRACER_H

#include "iotrace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is recorded. Members that are 0 or NULL keep nothing out. */
struct leat_trace_filter {
	const char *types;       /* letters of enum leat_trace_type */
	const char *const *dirs; /* absolute; a file is below one of them */
	size_t n_dirs;
	const char *const *filesystems; /* types, as in /proc/filesystems */
	size_t n_filesystems;
	const pid_t *pids; /* and their descendants */
	size_t n_pids;
	bool by_uid, by_gid;
	uid_t uid;
	gid_t gid;
};

/* How it goes, for who looks while it runs (`--listen`). Written by the tracer's thread only. */
struct leat_trace_progress {
	uint64_t calls[128]; /* by letter */
	uint64_t bytes_read, bytes_written;
	uint64_t processes;
	uint64_t lost[LEAT_TRACE_LOSSES];
};

struct leat_trace_request {
	char *const *argv; /* the command; NULL: what the filter lets through, system-wide */
	struct leat_trace_filter filter;
	struct leat_trace_writer *out;        /* borrowed */
	const volatile bool *stop;            /* set by a signal: come to an end */
	struct leat_trace_progress *progress; /* borrowed; NULL */
	size_t buffer_bytes; /* between the traced and the tracer; 0: its default */
	const char *overlay; /* fuse: the directory that it is laid over */
};

struct leat_tracer {
	const char *name;
	const char *summary; /* for the help */
	/* Can it trace this request here? 0, or -errno, and `why` says what is missing and what to
	 * do about it. */
	int (*usable)(const struct leat_trace_request *request, char *why, size_t size);
	/* Runs the command and writes its trace to the end of its last descendant; system-wide:
	 * until stopped. *status is the command's, as of wait(2). 0 or -errno of the tracing, after
	 * a message. What the command does is what it would do untraced. */
	int (*run)(const struct leat_trace_request *request, int *status);
};

extern const struct leat_tracer leat_tracer_ebpf, leat_tracer_preload, leat_tracer_ptrace,
	leat_tracer_fuse;

/* A tracer, and whether this leat has it. */
struct leat_tracer_row {
	const char *name;
	const struct leat_tracer *tracer; /* NULL: left out when leat was built, */
	const char *missing;              /* for this reason */
};

/* All, in the order in which `--tracer auto` prefers them; ends with a row without name. A tracer
 * NAME is in src/trace/NAME, whose meson.build adds to `trace_sources` and `trace_deps` and to
 * `trace_args` -DLEAT_TRACER_NAME, or -DLEAT_TRACER_NAME_MISSING="reason". */
extern const struct leat_tracer_row leat_tracers[];

/* The row of that name, or NULL. */
const struct leat_tracer_row *leat_tracer_find(const char *name);

/* The first that can trace the request; `why` says why none of those before it can, or why none at
 * all. NULL if there is none. */
const struct leat_tracer *leat_tracer_choose(const struct leat_trace_request *request, char *why,
					     size_t size);

#endif
