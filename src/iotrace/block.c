#include "iotrace/block.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

/* Also where to look for the next block when one is damaged. */
static const uint8_t magic[4] = {0xb1, 'L', 'T', 0x0b};

enum { SUM_AT = 28 }; /* of the frame: its last four bytes */

uint64_t leat_trace_sum(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

void leat_trace_frame_put(const struct leat_trace_frame *f, uint8_t out[LEAT_TRACE_FRAME_BYTES])
{
	memcpy(out, magic, sizeof(magic));
	put32(out + 4, (uint32_t)f->type | (f->compressed ? 0x100u : 0));
	put32(out + 8, f->stored);
	put32(out + 12, f->raw);
	put32(out + 16, f->records);
	put32(out + 20, (uint32_t)f->sum);
	put32(out + 24, (uint32_t)(f->sum >> 32));
	put32(out + SUM_AT, (uint32_t)leat_trace_sum(out, SUM_AT));
}

bool leat_trace_frame_get(struct leat_trace_frame *f, const uint8_t in[LEAT_TRACE_FRAME_BYTES])
{
	uint32_t type = get32(in + 4);

	if (memcmp(in, magic, sizeof(magic)) != 0 ||
	    get32(in + SUM_AT) != (uint32_t)leat_trace_sum(in, SUM_AT))
		return false;
	*f = (struct leat_trace_frame){.type = (enum leat_trace_block)(type & 0xff),
				       .compressed = type & 0x100,
				       .stored = get32(in + 8),
				       .raw = get32(in + 12),
				       .records = get32(in + 16),
				       .sum = get32(in + 20) | (uint64_t)get32(in + 24) << 32};
	return f->stored <= 2 * LEAT_TRACE_BLOCK_MAX && f->raw <= LEAT_TRACE_BLOCK_MAX &&
	       (f->compressed || f->stored == f->raw);
}
