/* What each task did, in figures, and how much of a trace is nobody's. */
#ifndef LEAT_REPORT_MAP_SUMS_H
#define LEAT_REPORT_MAP_SUMS_H

#include "report/map.h"

struct leat_map_sum {
	uint64_t calls;
	uint64_t bytes_read, bytes_written; /* by results */
	uint64_t time_ns;                   /* in calls, summed */
};

/* Kept by life while a trace is read, since whose a life is shows at its end. Set up with zeros. */
struct leat_map_sums {
	struct leat_map_sum *lives; /* owned */
	size_t n, room;
	struct leat_map_sum all;
};

/* 0 or -ENOMEM. */
int leat_map_sums_add(struct leat_map_sums *s, size_t life, const struct leat_trace_call *call);
void leat_map_sums_release(struct leat_map_sums *s);

/* What is told beside the figures. */
struct leat_map_facts {
	bool partial_trace; /* cut off, or records are missing */
	uint64_t lost;      /* records known to be missing */
};

/* The tasks, and what is nobody's with the reasons, as text or as JSON (docs/association.md). 0 or
 * -errno of `out`. */
int leat_map_write_text(const struct leat_map *m, const struct leat_map_sums *s,
			const struct leat_map_facts *facts, FILE *out);
int leat_map_write_json(const struct leat_map *m, const struct leat_map_sums *s,
			const struct leat_map_facts *facts, FILE *out);

/* The table of calls: its first line, and a line for a call of that life. `host` is its node's.
 * Errors are those of `out`. */
void leat_map_write_csv_head(FILE *out);
void leat_map_write_csv(const char *host, const struct leat_trace_call *call,
			const struct leat_map_answer *answer, FILE *out);

#endif
