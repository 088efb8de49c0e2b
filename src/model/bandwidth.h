/* What a task asks of its storage: a share of the bandwidth of a device, in MB/s, given or to be
 * learned. Source: I/O-aware PyCOMPSs, Sec. 4.2.2 and 4.2.3 (storageBW). */
#ifndef LEAT_MODEL_BANDWIDTH_H
#define LEAT_MODEL_BANDWIDTH_H

#include <stdbool.h>
#include <stddef.h>

enum leat_bandwidth_kind {
	LEAT_BANDWIDTH_NONE,    /* unconstrained */
	LEAT_BANDWIDTH_STATIC,  /* min MB/s, always */
	LEAT_BANDWIDTH_AUTO,    /* learned, from what the device and the I/O executors allow */
	LEAT_BANDWIDTH_BOUNDED, /* learned: min, min * delta ... up to max */
};

struct leat_bandwidth {
	enum leat_bandwidth_kind kind;
	unsigned min, max, delta; /* MB/s, MB/s, factor; 0 unless the kind says it */
};

/* Is it to be learned? */
static inline bool leat_bandwidth_learns(const struct leat_bandwidth *bandwidth)
{
	return bandwidth->kind == LEAT_BANDWIDTH_AUTO || bandwidth->kind == LEAT_BANDWIDTH_BOUNDED;
}

enum {
	LEAT_BANDWIDTH_MAX = 1000000000, /* MB/s: a bound for every bandwidth, so that sums fit */
	LEAT_BANDWIDTH_WHY = 192,        /* space for what is wrong, NUL included */
};

/* Read "" (none), "80", "auto" or "auto(2,256,2)" into *bandwidth. 0, or -EINVAL with what is
 * wrong, and what to write instead, in `why`. Any thread. */
int leat_bandwidth_parse(const char *text, struct leat_bandwidth *bandwidth,
			 char why[LEAT_BANDWIDTH_WHY]);

/* Check values that come from elsewhere. As above. Any thread. */
int leat_bandwidth_check(const struct leat_bandwidth *bandwidth, char why[LEAT_BANDWIDTH_WHY]);

/* Write it as it is read; "" for none. Always ends with NUL. Any thread. */
void leat_bandwidth_format(const struct leat_bandwidth *bandwidth, char *out, size_t size);

#endif
