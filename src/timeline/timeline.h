/* The timeline of a run: what each step did when, as the daemon has seen it
 * (docs/reference/daemon-json.md), and what is drawn from it. */
#ifndef LEAT_TIMELINE_H
#define LEAT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct leat_result;
struct leat_value;
struct leat_workflow;

/* All times: microseconds since the daemon's start. */
struct leat_timeline_piece {
	uint64_t begin_us;
	uint64_t length_us;
	uint64_t wait_us; /* of the length, */
	uint64_t copy_us;
	uint64_t rest_us; /* between two launches */
	uint64_t bytes_in;
	uint64_t bytes_out;
	uint64_t file; /* waited for: index + 1 in `files`; 0 none */
};

struct leat_timeline_line {
	struct leat_timeline_piece *v; /* owned */
	size_t n;
};

/* In the order of the daemon's numbers. */
enum leat_timeline_kind {
	LEAT_TIMELINE_LAUNCH,
	LEAT_TIMELINE_END,
	LEAT_TIMELINE_COMMIT,
	LEAT_TIMELINE_FAIL,
	LEAT_TIMELINE_READ,
	LEAT_TIMELINE_KINDS,
};

struct leat_timeline_milestone {
	uint64_t time_us;
	enum leat_timeline_kind kind;
	long step;        /* -1: none in particular */
	uint64_t file;    /* index + 1 in `files`; 0 none */
	uint64_t version; /* from 1 */
};

struct leat_timeline {
	struct leat_timeline_line *lines; /* owned; one a step; NULL: the daemon sent nothing */
	size_t n_lines;
	struct leat_timeline_milestone *milestones; /* owned; in the order of time */
	size_t n_milestones;
	uint64_t marks_left_out;
	char **files; /* owned, each of them too */
	size_t n_files;
	uint64_t start_ns;    /* of the daemon; CLOCK_MONOTONIC */
	uint64_t interval_ms; /* between two looks at a step */
};

/* Where a step's time went: the parts add up to `wall_us`. */
struct leat_timeline_totals {
	uint64_t wall_us;
	uint64_t wait_us; /* as in the summary */
	uint64_t copy_us;
	uint64_t rest_us;
	uint64_t compute_us; /* the rest */
};

/* Take the timeline out of the daemon's summary, if it has one, for `n_steps` steps. 0, -ENOMEM, or
 * -EPROTO: it is not what it should be. */
int leat_timeline_read(const struct leat_value *summary, size_t n_steps, struct leat_timeline *t);
void leat_timeline_release(struct leat_timeline *t);

void leat_timeline_total(const struct leat_result *r, size_t step,
			 struct leat_timeline_totals *out);

/* The milestone of a file's commit that a READ milestone follows: the latest before it, or, if the
 * file was read while it grew, the first after it. NULL: none. */
const struct leat_timeline_milestone *
leat_timeline_source(const struct leat_timeline *t, const struct leat_timeline_milestone *read);

/* Time of a milestone or piece since the run's start. */
uint64_t leat_timeline_since_start(const struct leat_result *r, uint64_t us);

/* All of it as JSON, as the page wants it (docs/reference/commands.md). `dir` is the workflow's. 0
 * or -errno of `out`. */
int leat_timeline_write_data(const struct leat_result *r, const struct leat_workflow *wf,
			     const char *dir, FILE *out);
/* As a page for browsers, which needs nothing else. 0 or -errno. */
int leat_timeline_write_page(const struct leat_result *r, const struct leat_workflow *wf,
			     const char *dir, FILE *out);
/* As trace events for Perfetto and chrome://tracing. 0 or -errno of `out`. */
int leat_timeline_write_trace(const struct leat_result *r, const struct leat_workflow *wf,
			      FILE *out);

#endif
