/* Moments of a run, for its timeline: launches and ends of steps, files that became complete or
 * failed, and who began to read them. Event loop only. */
#ifndef LEAT_DAEMON_RUN_MILESTONES_H
#define LEAT_DAEMON_RUN_MILESTONES_H

#include "base/json.h"

#include <stdint.h>

struct leat_daemon;
struct leat_file;

enum {
	LEAT_MILESTONES_MOST = 1 << 14, /* what comes after so many is only counted */
};

enum leat_milestone_kind {
	LEAT_MILESTONE_LAUNCH,
	LEAT_MILESTONE_END, /* of a launch */
	LEAT_MILESTONE_COMMIT,
	LEAT_MILESTONE_FAIL,
	LEAT_MILESTONE_READ, /* opened by a consumer, for the first time */
};

struct leat_milestone {
	uint64_t time_ns;
	uint64_t version;
	uint32_t file; /* number of its name; 0: none */
	int step;      /* -1: none in particular */
	enum leat_milestone_kind kind;
};

struct leat_milestone_name;

struct leat_milestones {
	struct leat_milestone *v; /* owned */
	unsigned n, capacity;
	uint64_t n_left_out;
	struct leat_milestone_name *names; /* owned; in the order of their numbers, from 1 */
};

void leat_milestones_release(struct leat_daemon *d);

void leat_milestones_step(struct leat_daemon *d, enum leat_milestone_kind kind, int step);
/* The file is complete, or has failed; `step` did what made it so (-1: nobody). */
void leat_milestones_file(struct leat_daemon *d, enum leat_milestone_kind kind, struct leat_file *f,
			  int step);
/* A consumer opens it. */
void leat_milestones_read(struct leat_daemon *d, struct leat_file *f, int step);

/* The number of the file's name; 0: out of memory. */
uint32_t leat_milestones_number(struct leat_daemon *d, struct leat_file *f);

/* "files", "marks" and "marks_left_out" of docs/reference/daemon-json.md. */
void leat_milestones_put(const struct leat_daemon *d, struct leat_json *j);

#endif
