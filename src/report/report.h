/* A report on traces: what was found in them, and its four forms (docs/reference/report.md). One
 * thread at a time for all of a report. */
#ifndef LEAT_REPORT_REPORT_H
#define LEAT_REPORT_REPORT_H

#include "iotrace/trace.h"
#include "report/analyse.h"
#include "associate/associate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Something that a person may want to change. Kinds are words for programs. */
struct leat_hint {
	const char *kind; /* static */
	uint32_t task;    /* UINT32_MAX: none */
	uint32_t file;    /* UINT32_MAX: none */
	uint32_t reader;  /* the other task; UINT32_MAX: none */
	uint64_t cost_ns; /* time in calls that it is about: they are ordered by that */
	char *text;       /* owned; a sentence without a full stop */
};

/* One trace: strings are owned. */
struct leat_report_source {
	char *host, *tracer, *command; /* NULL unknown */
	bool foreign;                  /* the paper's layout, which has no trailer */
	struct leat_trace_tail tail;
	struct leat_trace_unseen *unseen; /* owned, with its texts; programs it lacks */
	size_t n_unseen;
};

/* Calls that no task is known to have made, by the reason. */
struct leat_report_unattributed {
	uint64_t calls, bytes;
};

/* What a step of a streamed run waited for: strings are owned. */
struct leat_report_wait {
	char *step, *name; /* the name as the workflow has it */
	uint32_t task;     /* UINT32_MAX: the step is not in the trace */
	uint64_t times, ns, longest_ns;
};

/* What was found in the traces. */
struct leat_report_found {
	struct leat_analysis *analysis;     /* owned */
	struct leat_report_source *sources; /* owned; one for each node */
	unsigned n_sources;
	uint64_t malformed;  /* lines or blocks left out */
	char *first_problem; /* owned; what was the matter with the first; NULL none */
	int broken;          /* -errno that ended the reading early; 0 none */
	bool has_map;        /* tasks are those of a workflow */
	bool partial_map;    /* not all of a log could be used */
	uint64_t attributed_calls;
	struct leat_report_unattributed unattributed[LEAT_ASSOCIATE_REASONS];
	struct leat_report_wait *waits; /* owned; the longest first */
	size_t n_waits;
};

struct leat_report {
	struct leat_report_found found; /* owned */
	struct leat_hint *hints;        /* owned; the dearest first */
	size_t n_hints;
	/* Indices, the most important first: by time in calls, by bytes. Those that the filter
	 * leaves. Owned. */
	uint32_t *tasks, *files, *edges;
	uint32_t n_tasks, n_files, n_edges;
};

struct leat_report_request {
	/* Begin to read all traces; called once or twice. NULL: it was said why not. */
	struct leat_trace_reader *(*open)(void *ctx);
	void *ctx;
	struct leat_associate_map *map; /* borrowed; with the logs there are, not resolved */
	bool slurm;                     /* tasks may be Slurm's, of which no log tells */
	char *const *runs;              /* event logs of leat run: what was waited for */
	size_t n_runs;
	const struct leat_analysis_limits *limits; /* NULL: the usual */
	const char *task, *file; /* patterns as for fnmatch(3), or parts of names; NULL: all */
};

/* Reads the traces, twice if logs or labels may tell of tasks, and finds out all there is to show.
 * 0, or -errno after a message; what could be read of a trace that is damaged is in the report. */
int leat_report_new(const struct leat_report_request *request, struct leat_report **report);
void leat_report_free(struct leat_report *r);

/* A report of what was found, which it owns from now on: *found is emptied. NULL and errno, what
 * was found then being the caller's. */
struct leat_report *leat_report_of(struct leat_report_found *found, const char *task,
				   const char *file);

/* Is anything missing from it? */
bool leat_report_is_partial(const struct leat_report *r);

/* What is missing, one sentence a line, each by `put`. */
void leat_report_list_gaps(const struct leat_report *r, void (*put)(void *ctx, const char *text),
			   void *ctx);

/* How much a document holds: what is more is counted in it. */
struct leat_report_extent {
	uint32_t tasks, files, edges, hints;
	uint32_t spans; /* files with their spans */
};

extern const struct leat_report_extent leat_report_whole, leat_report_page;

/* Each: 0, or -errno of the writing. */

/* For a terminal of `width` columns, at least 60. `top`: so many rows of each table. */
int leat_report_write_text(const struct leat_report *r, FILE *out, int width, bool utf8,
			   uint32_t top);

/* One JSON document; docs/reference/report.md has its members. */
int leat_report_write_json(const struct leat_report *r, const struct leat_report_extent *extent,
			   FILE *out);

/* One page that needs nothing else. */
int leat_report_write_page(const struct leat_report *r, FILE *out);

/* Trace events, for ui.perfetto.dev. */
int leat_report_write_perfetto(const struct leat_report *r, FILE *out);

#endif
