/* Records within a block of a compressed trace: as differences from what their file, their process
 * and the calls before them let expect. Blocks know nothing of each other.
 * docs/reference/trace-format.md. */
#ifndef LEAT_IOTRACE_PACK_H
#define LEAT_IOTRACE_PACK_H

#include "iotrace/trace.h"

enum {
	LEAT_TRACE_SLOTS = 256,
	LEAT_TRACE_INTERNED = 8192,   /* texts of a block that are found again */
	LEAT_TRACE_PACKED_BYTES = 256 /* of one record without its texts, at most */
};

/* What is expected of an open file's next call. */
struct leat_trace_slot {
	uint64_t handle, inode, next, size;
	uint64_t utime_ns, stime_ns;
	uint32_t flags, pid;
};

struct leat_trace_model {
	uint64_t time_ns, handle, inode, cgroup, mounts, utime_ns, stime_ns;
	uint32_t pid;
	struct leat_trace_slot slots[LEAT_TRACE_SLOTS];
};

/* A block that is being made. */
struct leat_trace_packer {
	struct leat_trace_model model;
	uint8_t *bytes; /* owned; space for what the caller lets into it */
	size_t used;
	uint32_t records;                         /* in it */
	uint32_t counted;                         /* of them, calls and processes */
	uint32_t texts;                           /* how many there are */
	uint32_t at[2 * LEAT_TRACE_INTERNED];     /* where they begin, by hash; 1 + offset */
	uint32_t number[2 * LEAT_TRACE_INTERNED]; /* which one it is, from 1 */
};

void leat_trace_packer_reset(struct leat_trace_packer *p);

/* Appends a record; there is space for LEAT_TRACE_PACKED_BYTES and its texts. 0, or -EINVAL: it has
 * a kind, type or change that there is not. */
int leat_trace_pack(struct leat_trace_packer *p, const struct leat_trace_record *record);

/* A block that is being read. */
struct leat_trace_unpacker {
	struct leat_trace_model model;
	const uint8_t *at, *end; /* borrowed; LEAT_TRACE_PACKED_BYTES behind the end can be read */
	const char **texts;      /* owned; pointers into the block */
	uint32_t n_texts, capacity;
};

/* Begins with a block. */
void leat_trace_unpacker_reset(struct leat_trace_unpacker *u, const uint8_t *bytes, size_t n);

/* The next record; its texts point into the block. 1, 0 at the end of the block, -EBADMSG: it has
 * none from here on; or -ENOMEM. */
int leat_trace_unpack(struct leat_trace_unpacker *u, struct leat_trace_record *record);

/* ---- numbers: seven bits a byte, the lowest first ---- */

static inline uint8_t *leat_trace_put_number(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

/* Reads at most ten bytes. */
static inline const uint8_t *leat_trace_get_number(const uint8_t *at, uint64_t *value)
{
	uint64_t sum = *at & 0x7f;

	for (unsigned shift = 7; *at++ & 0x80 && shift < 70; shift += 7)
		sum |= (uint64_t)(*at & 0x7f) << shift;
	*value = sum;
	return at;
}

/* Small differences, whichever their sign, as small numbers. */
static inline uint64_t leat_trace_fold(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t leat_trace_unfold(uint64_t folded)
{
	return folded >> 1 ^ (0 - (folded & 1));
}

#endif
