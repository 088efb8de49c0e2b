#include "report/series.h"

#include <stddef.h>
#include <string.h>

void leat_series_widen(struct leat_report_series *s, uint8_t level)
{
	for (; s->level < level; s->level++) {
		for (size_t i = 0; i < LEAT_SERIES_PIECES / 2; i++)
			for (int of = 0; of < LEAT_SERIES_ALL; of++)
				s->v[i][of] = s->v[2 * i][of] + s->v[2 * i + 1][of];
		memset(s->v[LEAT_SERIES_PIECES / 2], 0, sizeof(s->v) / 2);
	}
}

__extension__ typedef unsigned __int128 product;

/* The part of `amount` that is due after `passed` of `length`: so that the parts add up to it. */
static uint64_t due(uint64_t amount, uint64_t passed, uint64_t length)
{
	return (uint64_t)((product)amount * passed / length);
}

static void spread(struct leat_report_series *s, enum leat_series_of way, uint64_t begin_ns,
		   uint64_t end_ns, uint64_t bytes)
{
	unsigned shift = LEAT_SERIES_SHIFT + s->level;
	uint64_t length_ns = end_ns - begin_ns, bytes_before = 0, ns_before = 0;

	for (uint64_t i = begin_ns >> shift; i <= end_ns >> shift; i++) {
		uint64_t ns = ((i + 1) << shift) - begin_ns, now;

		if (ns > length_ns)
			ns = length_ns;
		now = due(bytes, ns, length_ns);
		s->v[i][way] += now - bytes_before;
		s->v[i][LEAT_SERIES_TIME] += ns - ns_before;
		bytes_before = now;
		ns_before = ns;
	}
}

void leat_series_add(struct leat_report_series *s, enum leat_series_of way, uint64_t begin_ns,
		     uint64_t end_ns, uint64_t bytes)
{
	uint64_t last;

	if (end_ns < begin_ns)
		end_ns = begin_ns;
	while ((last = end_ns >> (LEAT_SERIES_SHIFT + s->level)) >= LEAT_SERIES_PIECES)
		leat_series_widen(s, (uint8_t)(s->level + 1));
	if (begin_ns >> (LEAT_SERIES_SHIFT + s->level) != last) {
		spread(s, way, begin_ns, end_ns, bytes);
		return;
	}
	s->v[last][way] += bytes;
	s->v[last][LEAT_SERIES_TIME] += end_ns - begin_ns;
}

void leat_series_add_all(struct leat_report_series *s, const struct leat_report_series *more)
{
	struct leat_report_series same = *more;

	leat_series_widen(s, more->level);
	leat_series_widen(&same, s->level);
	for (size_t i = 0; i < LEAT_SERIES_PIECES; i++)
		for (int of = 0; of < LEAT_SERIES_ALL; of++)
			s->v[i][of] += same.v[i][of];
}
