/* What each task did, as sums, and how much of a trace is unattributed. */
#ifndef LEAT_ASSOCIATE_SUMS_H
#define LEAT_ASSOCIATE_SUMS_H

#include "associate/associate.h"

struct leat_associate_sum {
	uint64_t calls;
	uint64_t bytes_read, bytes_written; /* by results */
	uint64_t time_ns;                   /* in calls, summed */
};

/* Kept by image while a trace is read, since whose an image is shows at its end. Set up with zeros.
 */
struct leat_associate_sums {
	struct leat_associate_sum *images; /* owned */
	size_t n, space;
	struct leat_associate_sum all;
};

/* 0 or -ENOMEM. */
int leat_associate_sums_add(struct leat_associate_sums *s, size_t image,
			    const struct leat_trace_call *call);
void leat_associate_sums_release(struct leat_associate_sums *s);

/* What is told beside the sums. */
struct leat_associate_facts {
	bool partial_trace; /* cut off, or records are missing */
	uint64_t lost;      /* records known to be missing */
};

/* The tasks, and what is unattributed with the reasons, as text or as JSON
 * (docs/reference/association.md). 0 or -errno of `out`. */
int leat_associate_write_text(const struct leat_associate_map *m,
			      const struct leat_associate_sums *s,
			      const struct leat_associate_facts *facts, FILE *out);
int leat_associate_write_json(const struct leat_associate_map *m,
			      const struct leat_associate_sums *s,
			      const struct leat_associate_facts *facts, FILE *out);

/* The table of calls: its first line, and a line for a call of that image. `host` is its node's.
 * Errors are those of `out`. */
void leat_associate_write_csv_head(FILE *out);
void leat_associate_write_csv(const char *host, const struct leat_trace_call *call,
			      const struct leat_associate_answer *answer, FILE *out);

#endif
