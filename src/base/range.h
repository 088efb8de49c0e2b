/* A range of bytes in a file. */
#ifndef LEAT_BASE_RANGE_H
#define LEAT_BASE_RANGE_H

#include <stdint.h>

struct leat_range {
	uint64_t begin;
	uint64_t end; /* exclusive */
};

/* End of the `length` bytes at `offset`; no further than a file can reach. */
static inline uint64_t leat_range_end(uint64_t offset, uint64_t length)
{
	return length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
}

#endif
