/* States that were met, known by a hash of 64 bits: of a million states two share one with a
 * probability of 3 in 100 million. */
#ifndef LEAT_STREAM_VERIFY_SEEN_H
#define LEAT_STREAM_VERIFY_SEEN_H

#include <stdint.h>

/* Zero-initialised is empty. */
struct verify_seen {
	uint64_t *table; /* owned; 0 free; at most half full */
	uint64_t size;   /* a power of two */
	uint64_t n;
};

/* 1 it is new, 0 it was met before, -ENOMEM. */
int leat_verify_seen_put(struct verify_seen *seen, uint64_t hash);
void leat_verify_seen_release(struct verify_seen *seen);

#endif
