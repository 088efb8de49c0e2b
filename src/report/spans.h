/* Where in a file, and when, tasks read and wrote, in bounded memory: few calls are kept one by
 * one; of many, those that are near one another in time and place are put together, with a grain
 * that gets coarser as there are more. One thread at a time. */
#ifndef LEAT_REPORT_SPANS_H
#define LEAT_REPORT_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What many files share: how much memory they have, and what they use of it. */
struct leat_spans_budget {
	size_t bytes, used_bytes;
	uint32_t most; /* spans that one may have; gets less when memory gets short */
};

/* One call, or several of one task that went one way. */
struct leat_span {
	uint64_t begin_ns, end_ns; /* since the beginning of the report */
	uint64_t from, to;         /* bytes [from, to) */
	uint64_t bytes;            /* moved: less than to - from where there are gaps */
	uint32_t calls;
	uint32_t task : 31, write : 1;
};

struct leat_spans {
	struct leat_span *v; /* owned; in order when finished */
	uint32_t n, capacity;
	uint32_t reduced;                /* how many were left when they were put together last */
	uint8_t time_shift, place_shift; /* the grain is 2^shift ns and bytes; 0, 0: each call */
	uint32_t *index; /* owned; with a grain: where in `v` a place and time is, + 1; by a hash */
	uint32_t slots;  /* of the index; a power of two, more than twice the spans */
};

/* 0 or -ENOMEM. */
int leat_spans_add(struct leat_spans *s, const struct leat_span *span,
		   struct leat_spans_budget *budget);

/* Put them in the order of their beginning. Nothing may be added any more. */
void leat_spans_finish(struct leat_spans *s, struct leat_spans_budget *budget);

void leat_spans_release(struct leat_spans *s, struct leat_spans_budget *budget);

#endif
