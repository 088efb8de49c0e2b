/* The daemon's status (docs/reference/daemon-json.md) at one moment, for leat top: taken apart,
 * compared with the one before, and put into lines. */
#ifndef LEAT_CONTROL_SNAPSHOT_H
#define LEAT_CONTROL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_snapshot_step {
	char *name;   /* owned */
	char *state;  /* owned; "waiting" (not started), "running", "done", "failed" */
	char *doing;  /* owned; in words */
	size_t place; /* in the workflow */
	uint64_t wall_ns;
	uint64_t wait_ns;
	uint64_t cpu_ns;
	uint64_t bytes_in, bytes_out;
	bool waits;     /* now */
	double cpus;    /* busy with it, */
	double in_rate; /* bytes in a second: since the snapshot before, or its start */
	double out_rate;
};

struct leat_snapshot_file {
	char *name;  /* owned */
	char *state; /* owned; "absent", "produced", "committed", "failed", "gone" */
	char *place; /* owned; "store", "spill", "disk", "none" */
	uint64_t bytes;
	uint64_t writers;
};

struct leat_snapshot_wait {
	char *step;  /* owned */
	char *file;  /* owned */
	char *needs; /* owned; "a, b" */
};

struct leat_snapshot {
	char *workflow, *dir; /* owned */
	uint64_t start_ns, now_ns;
	uint64_t budget_bytes, used_bytes, spilled_bytes;
	struct leat_snapshot_step *steps; /* owned */
	size_t n_steps;
	struct leat_snapshot_file *files; /* owned */
	size_t n_files;
	struct leat_snapshot_wait *waits; /* owned */
	size_t n_waits;
};

/* Take the status apart. 0, -ENOMEM, or -EPROTO: it is not what it should be. */
int leat_snapshot_read(const char *json, struct leat_snapshot *s);
void leat_snapshot_release(struct leat_snapshot *s);

/* Find the rates since `before`; NULL: since each step's start. */
void leat_snapshot_compare(struct leat_snapshot *s, const struct leat_snapshot *before);

enum leat_snapshot_key {
	LEAT_SORT_ORDER, /* of the workflow */
	LEAT_SORT_NAME,
	LEAT_SORT_WALL,
	LEAT_SORT_WAITING,
	LEAT_SORT_CPU,
	LEAT_SORT_IN,
	LEAT_SORT_OUT,
};

/* Sort the steps: names upwards, numbers downwards, or the other way round; equal ones stay in the
 * workflow's order. Files: those that are written first, then the largest. */
void leat_snapshot_sort(struct leat_snapshot *s, enum leat_snapshot_key key, bool reverse);

enum leat_snapshot_kind {
	LEAT_LINE_TITLE,
	LEAT_LINE_HEADING,
	LEAT_LINE_PLAIN,
	LEAT_LINE_WAITS,
	LEAT_LINE_FAILED,
	LEAT_LINE_OVER, /* of a step that has ended well, or a file that is complete */
};

struct leat_snapshot_line {
	char *text; /* owned; UTF-8 without control characters */
	enum leat_snapshot_kind kind;
};

struct leat_snapshot_lines {
	struct leat_snapshot_line *v; /* owned */
	size_t n, space;
	size_t n_head; /* the first of them, which are to be seen always */
};

/* All of it in lines, of any length. 0 or -ENOMEM. */
int leat_snapshot_write(const struct leat_snapshot *s, struct leat_snapshot_lines *lines);
void leat_snapshot_lines_release(struct leat_snapshot_lines *lines);

#endif
