/* The frame of a compressed trace: a magic, then blocks, each with its length and checksums. All
 * numbers are little-endian. docs/reference/trace-format.md. */
#ifndef LEAT_IOTRACE_BLOCK_H
#define LEAT_IOTRACE_BLOCK_H

#include "iotrace/trace.h"

#define LEAT_TRACE_MAGIC "leat trace 2\n\x1a\0\0"
#define LEAT_TRACE_MAGIC_1 "leat trace 1\n\x1a\0\0" /* without OP_OUTSIDE and OP_UNSEEN */

enum {
	LEAT_TRACE_MAGIC_BYTES = 16,
	LEAT_TRACE_FRAME_BYTES = 32,
	LEAT_TRACE_BLOCK_BYTES = 512 << 10, /* when a block is ended */
	LEAT_TRACE_BLOCK_MAX = 2 << 20,     /* with a long text at its end */
};

enum leat_trace_block {
	LEAT_TRACE_BLOCK_HEAD = 'H',
	LEAT_TRACE_BLOCK_CALLS = 'C',
	LEAT_TRACE_BLOCK_PROCESSES = 'P',
	LEAT_TRACE_BLOCK_END = 'E',
};

/* What stands before the bytes of a block. */
struct leat_trace_frame {
	enum leat_trace_block type;
	bool compressed;
	uint32_t stored; /* bytes in the file */
	uint32_t raw;    /* bytes they are */
	uint32_t records;
	uint64_t sum; /* of the bytes in the file */
};

uint64_t leat_trace_sum(const void *bytes, size_t n);

void leat_trace_frame_put(const struct leat_trace_frame *f, uint8_t out[LEAT_TRACE_FRAME_BYTES]);

/* False: no block begins here. */
bool leat_trace_frame_get(struct leat_trace_frame *f, const uint8_t in[LEAT_TRACE_FRAME_BYTES]);

#endif
