/* Fields of CSV traces, scanned by hand: with strtod and strtoull the thirteen numbers of a row
 * take 0.9 us, here 0.2, and a double has no space for nanoseconds since 1970. Inline, so that a
 * row is taken apart within registers. All functions: false where the field is not what it should
 * be; row->reason then says why, unless the limit was reached.
 */
#ifndef LEAT_IOTRACE_SCAN_H
#define LEAT_IOTRACE_SCAN_H

#include "iotrace/row.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define LEAT_TRACE_NO_TIME "is not a time in seconds"
#define LEAT_TRACE_NO_NUMBER "is not a number"
#define LEAT_TRACE_TOO_LARGE "is too large"

/* ---- numbers ---- */

/* Eight digits at once: the value, or false if not all are. The first byte is the highest digit. */
ALWAYS_INLINE bool eight_digits(const char *at, uint64_t *value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	if (((word & 0xf0f0f0f0f0f0f0f0) |
	     ((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4) != 0x3333333333333333)
		return false;
	word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
	word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16;
	*value = (word & 0x0000ffff0000ffff) * 42949672960001 >> 32;
	return true;
#else
	*value = 0;
	for (int i = 0; i < 8; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(at[i] - '0');
	}
	return true;
#endif
}

ALWAYS_INLINE bool take_digits(struct leat_trace_row *row, uint64_t *value)
{
	const char *begin = row->at;
	uint64_t sum = 0, eight;
	unsigned digit;

	if (eight_digits(row->at, &eight)) {
		sum = eight;
		row->at += 8;
	}
	while ((digit = (unsigned)(unsigned char)*row->at - '0') <= 9) {
		if (__builtin_expect(row->at - begin >= 19, 0) &&
		    (__builtin_mul_overflow(sum, 10u, &sum) ||
		     __builtin_add_overflow(sum, digit, &sum))) {
			row->reason = LEAT_TRACE_TOO_LARGE;
			return false;
		} else if (row->at - begin < 19) {
			sum = sum * 10 + digit;
		}
		row->at++;
	}
	if (row->at == begin)
		row->reason = LEAT_TRACE_NO_NUMBER;
	*value = sum;
	return row->at != begin;
}

static const uint32_t leat_trace_tens[] = {1000000000, 100000000, 10000000, 1000000, 100000,
					   10000,      1000,      100,      10,      1};

/* Behind the point, as ns: nine digits count. */
ALWAYS_INLINE bool take_fraction(struct leat_trace_row *row, uint64_t *ns)
{
	const char *begin = row->at;
	uint64_t sum = 0;
	int count = 0;

	if (eight_digits(row->at, &sum)) {
		count = 8;
		row->at += 8;
	} else {
		sum = 0;
	}
	for (; *row->at >= '0' && *row->at <= '9'; row->at++) {
		if (count < 9) {
			sum = sum * 10 + (uint64_t)(*row->at - '0');
			count++;
		}
	}
	*ns = sum * leat_trace_tens[count];
	return row->at != begin;
}

ALWAYS_INLINE bool take_seconds(struct leat_trace_row *row, int64_t *ns)
{
	bool negative = *row->at == '-';
	uint64_t seconds, fraction = 0;
	char *begin = row->at;

	row->at += negative;
	if (!take_digits(row, &seconds)) {
		row->reason = LEAT_TRACE_NO_TIME;
		row->at = begin < row->limit && row->at < row->limit ? begin : row->at;
		return false;
	}
	if (*row->at == '.') {
		row->at++;
		if (!take_fraction(row, &fraction)) {
			row->reason = LEAT_TRACE_NO_TIME;
			return false;
		}
	}
	if (seconds > INT64_MAX / 1000000000 - 1) {
		row->reason = LEAT_TRACE_TOO_LARGE;
		return false;
	}
	*ns = (int64_t)(seconds * 1000000000 + fraction);
	if (negative)
		*ns = -*ns;
	return true;
}

ALWAYS_INLINE bool take_signed(struct leat_trace_row *row, int64_t min, int64_t max, int64_t *value)
{
	bool negative = *row->at == '-';
	uint64_t size, most;

	row->at += negative;
	if (!take_digits(row, &size))
		return false;
	most = negative ? 0 - (uint64_t)min : (uint64_t)max;
	if (size > most) {
		row->reason = LEAT_TRACE_TOO_LARGE;
		return false;
	}
	*value = (int64_t)(negative ? 0 - size : size);
	return true;
}

ALWAYS_INLINE unsigned hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

ALWAYS_INLINE bool take_hex(struct leat_trace_row *row, uint32_t *value)
{
	uint64_t sum = 0;
	unsigned digit;
	char *begin;

	row->reason = "is not a number like 0x8000";
	if (row->at[0] != '0')
		return false;
	row->at++;
	if ((*row->at | 0x20) != 'x')
		return false;
	begin = ++row->at;
	for (; (digit = hex_digit(*row->at)) < 16; row->at++) {
		sum = sum << 4 | digit;
		if (sum > UINT32_MAX) {
			row->reason = LEAT_TRACE_TOO_LARGE;
			return false;
		}
	}
	*value = (uint32_t)sum;
	return row->at != begin;
}

/* ---- fields; `padded`: as the paper's tools write them ---- */

ALWAYS_INLINE void skip_padding(struct leat_trace_row *row, bool padded)
{
	while (padded && (*row->at == ' ' || *row->at == '\t'))
		row->at++;
}

ALWAYS_INLINE bool end_field(struct leat_trace_row *row, bool padded)
{
	skip_padding(row, padded);
	if (__builtin_expect(*row->at != ',', 0)) {
		row->reason = *row->at == '\n' || *row->at == '\r'
				      ? "is the last field: others are missing"
				      : "has something behind its value";
		return false;
	}
	row->at++;
	row->field++;
	return true;
}

ALWAYS_INLINE bool time_field(struct leat_trace_row *row, bool padded, int64_t *ns)
{
	skip_padding(row, padded);
	return take_seconds(row, ns) && end_field(row, padded);
}

ALWAYS_INLINE bool u64_field(struct leat_trace_row *row, bool padded, uint64_t *value)
{
	skip_padding(row, padded);
	return take_digits(row, value) && end_field(row, padded);
}

ALWAYS_INLINE bool i64_field(struct leat_trace_row *row, bool padded, int64_t *value)
{
	skip_padding(row, padded);
	return take_signed(row, INT64_MIN, INT64_MAX, value) && end_field(row, padded);
}

ALWAYS_INLINE bool i32_value(struct leat_trace_row *row, bool padded, int32_t *value)
{
	int64_t wide;

	skip_padding(row, padded);
	if (!take_signed(row, INT32_MIN, INT32_MAX, &wide))
		return false;
	*value = (int32_t)wide;
	return true;
}

ALWAYS_INLINE bool i32_field(struct leat_trace_row *row, bool padded, int32_t *value)
{
	return i32_value(row, padded, value) && end_field(row, padded);
}

ALWAYS_INLINE bool type_field(struct leat_trace_row *row, bool padded, enum leat_trace_type *type)
{
	skip_padding(row, padded);
	switch (*row->at) {
	case LEAT_TRACE_OPEN:
	case LEAT_TRACE_CREATE:
	case LEAT_TRACE_READ:
	case LEAT_TRACE_WRITE:
	case LEAT_TRACE_UNLINK:
	case LEAT_TRACE_CLOSE:
	case LEAT_TRACE_MAP:
	case LEAT_TRACE_RENAME:
	case LEAT_TRACE_TRUNCATE:
		*type = (enum leat_trace_type) * row->at++;
		return end_field(row, padded);
	default:
		row->reason = "is none of O C R W U X M N T";
		return false;
	}
}

ALWAYS_INLINE bool end_row(struct leat_trace_row *row)
{
	if (*row->at == '\r' && row->at < row->limit)
		row->at++;
	if (*row->at != '\n') {
		row->reason = "has something behind its value";
		return false;
	}
	if (row->at == row->limit)
		return false;
	row->at++;
	return true;
}

ALWAYS_INLINE int failed(const struct leat_trace_row *row)
{
	return row->at >= row->limit ? LEAT_TRACE_ROW_MORE : LEAT_TRACE_ROW_BAD;
}

ALWAYS_INLINE bool numbers_of_call(struct leat_trace_row *row, bool padded,
				   struct leat_trace_call *c)
{
	return time_field(row, padded, &c->start_ns) && time_field(row, padded, &c->end_ns) &&
	       i32_field(row, padded, &c->pid) && time_field(row, padded, &c->utime_start_ns) &&
	       time_field(row, padded, &c->utime_end_ns) &&
	       time_field(row, padded, &c->stime_start_ns) &&
	       time_field(row, padded, &c->stime_end_ns) && u64_field(row, padded, &c->inode) &&
	       type_field(row, padded, &c->type) && i64_field(row, padded, &c->result) &&
	       u64_field(row, padded, &c->handle) && u64_field(row, padded, &c->offset) &&
	       u64_field(row, padded, &c->size);
}

#endif
