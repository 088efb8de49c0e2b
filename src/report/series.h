/* Bytes and time in calls over time, in memory of fixed size: when a run gets longer than the
 * pieces of time reach, two and two become one. One thread at a time. */
#ifndef LEAT_REPORT_SERIES_H
#define LEAT_REPORT_SERIES_H

#include <stdint.h>

/* Pieces are 2^20 ns long at first, so that no call needs a division. */
enum { LEAT_SERIES_PIECES = 256, LEAT_SERIES_SHIFT = 20 };

enum leat_series_of {
	LEAT_SERIES_READ,    /* bytes */
	LEAT_SERIES_WRITTEN, /* bytes */
	LEAT_SERIES_TIME,    /* ns in calls, of all threads */
	LEAT_SERIES_ALL
};

struct leat_report_series {
	uint8_t level; /* a piece is 2^(LEAT_SERIES_SHIFT + level) ns long */
	uint64_t v[LEAT_SERIES_PIECES][LEAT_SERIES_ALL];
};

/* Add what a call did between these times since the beginning of the series: `bytes` that went one
 * way, and its time; both are spread evenly. */
void leat_series_add(struct leat_report_series *s, enum leat_series_of way, uint64_t begin_ns,
		     uint64_t end_ns, uint64_t bytes);

/* Add all of `more`. */
void leat_series_add_all(struct leat_report_series *s, const struct leat_report_series *more);

/* Make pieces at least as long as those of `level`. */
void leat_series_widen(struct leat_report_series *s, uint8_t level);

static inline uint64_t leat_series_piece_ns(const struct leat_report_series *s)
{
	return UINT64_C(1) << (LEAT_SERIES_SHIFT + s->level);
}

#endif
