/* What tasks did to files: the metrics of a report, made of a trace in one pass and in bounded
 * memory (docs/reference/report.md). One thread at a time. */
#ifndef LEAT_REPORT_ANALYSE_H
#define LEAT_REPORT_ANALYSE_H

#include "iotrace/trace.h"
#include "report/coverage.h"
#include "report/series.h"
#include "report/spans.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_way { LEAT_READ, LEAT_WRITTEN, LEAT_WAYS };

/* Calls by the bytes asked for: none, 1, 2-3, 4-7..., 2^(BINS - 2) and more. */
enum { LEAT_ANALYSIS_BINS = 34 };

/* Types of calls, as an index. */
enum { LEAT_ANALYSIS_TYPES = 9 };
extern const char leat_analysis_types[LEAT_ANALYSIS_TYPES + 1];

struct leat_calls {
	uint64_t n, failed, time_ns;
};

/* What went one way between a task and a file, or all files. */
struct leat_transfer {
	uint64_t calls, failed, bytes, asked;
	uint64_t time_ns, longest_ns;
	uint64_t sequential, up, down; /* calls by where they began */
	uint64_t sizes[LEAT_ANALYSIS_BINS];
};

struct leat_transfer_of_file {
	struct leat_transfer sum;
	struct leat_coverage coverage;
};

/* A task and a file. */
struct leat_report_edge {
	uint32_t task, file; /* indices */
	uint32_t next;       /* the task's next edge; UINT32_MAX: none */
	/* Owned; NULL: no such call. */
	struct leat_transfer_of_file *ways[LEAT_WAYS];
	struct leat_calls calls[LEAT_ANALYSIS_TYPES];
	int64_t first_ns, last_ns;    /* of READ, WRITE and MAP; 0: none */
	int64_t opened_ns;            /* first OPEN or CREATE; 0: none */
	int64_t way_ns[LEAT_WAYS][2]; /* first and last */
	uint64_t mapped_bytes;
	bool mapped[LEAT_WAYS];
	uint64_t read_back; /* bytes it read that it had written before */
};

struct leat_report_file {
	char *path;      /* owned; outside of containers; NULL: the trace does not tell */
	char *inside;    /* owned; of the first container that calls it otherwise; NULL: none */
	unsigned node;   /* of its first call */
	uint32_t system; /* its file system */
	bool shared;     /* the same path on another node is the same file */
	bool folded;     /* stands for many: its path is their directory, or "" for any */
	bool device;     /* it has no places: each byte is another */
	bool replaced;   /* another was renamed over it */
	bool removed;
	uint64_t bytes[LEAT_WAYS], time_ns;
	struct leat_spans spans;
};

struct leat_report_system {
	char *type, *at; /* owned; NULL unknown */
	unsigned node;
	uint64_t bytes[LEAT_WAYS];
	struct leat_report_series series;
};

struct leat_report_node {
	uint64_t bytes[LEAT_WAYS];
	struct leat_report_series series;
};

/* Where a task comes from. */
enum leat_report_origin {
	LEAT_REPORT_TASK,    /* the workflow's manager, or the run, tells of it */
	LEAT_REPORT_PROGRAM, /* no task: processes that run a program of that name */
	LEAT_REPORT_OTHERS,  /* those for which there was no space */
};

struct leat_report_task {
	char *name;     /* owned */
	char *logical;  /* owned; NULL: as the name */
	char *workflow; /* owned; NULL unknown */
	char *evidence; /* owned; why calls are said to be its; NULL */
	enum leat_report_origin origin;
	int64_t began_ns, ended_ns; /* as its manager says; 0 unknown */
	int64_t first_ns, last_ns;  /* of what is seen of it in the trace; 0 nothing */
	uint32_t edges;             /* first of its edges; UINT32_MAX: none */
	uint32_t n_edges;
	uint64_t waited_ns; /* in a streamed run, for others; of its run's event log */
	struct leat_transfer ways[LEAT_WAYS];
	struct leat_calls calls[LEAT_ANALYSIS_TYPES];
	struct leat_report_series series;
};

/* How much may be kept. What has no space is folded: counted with others, under their directory's
 * name, or "(others)". */
struct leat_analysis_limits {
	uint32_t tasks, files, edges, handles;
	struct leat_coverage_budget coverage;
	struct leat_spans_budget spans;
};

/* 10000 tasks, 50000 files, 100000 edges; 400 MB at most in all. */
extern const struct leat_analysis_limits leat_analysis_limits;

/* What makes the metrics less than complete, beside what the trace itself lacks. */
struct leat_analysis_gaps {
	uint64_t folded_tasks, folded_files, folded_edges; /* first calls of such */
	uint64_t nameless;  /* calls on files whose open is not in the trace */
	uint64_t estimated; /* edges whose unique bytes are an estimate */
	uint64_t forgotten; /* handles that were too many */
};

struct leat_analysis_tables; /* how things are found */

struct leat_analysis {
	struct leat_analysis_limits limits;
	int64_t begin_ns, end_ns; /* of the first record, and of the last call; 0: none */
	uint64_t n_calls, n_processes;
	struct leat_report_task *tasks;
	struct leat_report_file *files;
	struct leat_report_edge *edges;
	struct leat_report_system *systems;
	struct leat_report_node *nodes;
	uint32_t n_tasks, n_files, n_edges, n_systems, n_nodes;
	/* Of all; known when it is finished. */
	struct leat_transfer ways[LEAT_WAYS];
	struct leat_calls calls[LEAT_ANALYSIS_TYPES];
	struct leat_report_series series;
	struct leat_analysis_gaps gaps;
	struct leat_analysis_tables *tables; /* owned */
};

/* `limits` NULL: the usual ones. NULL and errno. */
struct leat_analysis *leat_analysis_new(const struct leat_analysis_limits *limits);
void leat_analysis_free(struct leat_analysis *a);

/* The task of that name, origin and workflow, made if there is none; *task is its index, that of
 * "(others)" when there is no space for more. 0 or -ENOMEM. */
int leat_analysis_task(struct leat_analysis *a, const char *name, const char *workflow,
		       enum leat_report_origin origin, uint32_t *task);

/* The task did that. 0 or -ENOMEM. */
int leat_analysis_call(struct leat_analysis *a, unsigned node, uint32_t task,
		       const struct leat_trace_call *call);

/* A process of the task was seen alive. */
void leat_analysis_alive(struct leat_analysis *a, uint32_t task, int64_t time_ns);

/* 0 or -ENOMEM. */
int leat_analysis_mount(struct leat_analysis *a, unsigned node,
			const struct leat_trace_mount *mount);

/* Add all up, give all series pieces of one length, and find out what is an estimate. To be called
 * once, when everything has been taken. */
void leat_analysis_finish(struct leat_analysis *a);

/* ---- what follows from it ---- */

/* Bytes that the edge moved that way, each counted once; not more than it moved. */
uint64_t leat_edge_unique(const struct leat_report_edge *p, enum leat_way way);
uint64_t leat_edge_bytes(const struct leat_report_edge *p, enum leat_way way);
bool leat_edge_is_estimate(const struct leat_report_edge *p);

/* How long the task ran: as its manager says, else as far as the trace shows; and when it began. */
int64_t leat_task_run_ns(const struct leat_report_task *t);
int64_t leat_task_begin_ns(const struct leat_report_task *t);

/* 100 x (last - first access) / (run time of the task); negative: no access. */
double leat_edge_bulkiness(const struct leat_analysis *a, const struct leat_report_edge *p);

/* Time in calls of all types. */
uint64_t leat_calls_time_ns(const struct leat_calls calls[LEAT_ANALYSIS_TYPES]);

/* Index of a type; LEAT_ANALYSIS_TYPES: none. */
int leat_analysis_type_index(enum leat_trace_type type);

#endif
