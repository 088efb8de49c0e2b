#include "pattern.h"

#include <stdlib.h>
#include <string.h>

enum { STAMP = sizeof(uint64_t) };

static unsigned char template[BENCH_PAGE];

void bench_pattern_init(void)
{
	uint64_t x = 88172645463325252ULL;

	for (size_t i = 0; i < BENCH_PAGE; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(template + i, &x, sizeof(x));
	}
}

static uint64_t stamp_of(uint64_t file, uint64_t page)
{
	uint64_t z = file * 0x9E3779B97F4A7C15ULL + page * 0xBF58476D1CE4E5B9ULL + 1;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

unsigned char *bench_pattern_buffer(size_t len)
{
	unsigned char *buf = malloc(len);

	if (!buf)
		return NULL;
	for (size_t done = 0; done < len; done += BENCH_PAGE)
		memcpy(buf + done, template, smaller(BENCH_PAGE, len - done));
	return buf;
}

void bench_pattern_stamp(unsigned char *buf, size_t len, uint64_t file, uint64_t off)
{
	for (size_t done = 0; done < len; done += BENCH_PAGE) {
		uint64_t stamp = stamp_of(file, (off + done) / BENCH_PAGE);

		memcpy(buf + done, &stamp, smaller(STAMP, len - done));
	}
}

/* Index of the first of n bytes that differ; they are known to. */
static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t n)
{
	size_t i = 0;

	while (i < n - 1 && a[i] == b[i])
		i++;
	return i;
}

size_t bench_pattern_check(const unsigned char *buf, size_t len, uint64_t file, uint64_t off)
{
	size_t done = 0;

	while (done < len) {
		size_t in = off % BENCH_PAGE;
		size_t n = smaller(BENCH_PAGE - in, len - done);
		size_t stamped = in < STAMP ? smaller(STAMP - in, n) : 0;

		if (stamped > 0) {
			uint64_t stamp = stamp_of(file, off / BENCH_PAGE);
			const unsigned char *want = (unsigned char *)&stamp + in;

			if (memcmp(buf + done, want, stamped) != 0)
				return done + first_difference(buf + done, want, stamped) + 1;
		}
		if (memcmp(buf + done + stamped, template + in + stamped, n - stamped) != 0)
			return done + stamped +
			       first_difference(buf + done + stamped, template + in + stamped,
						n - stamped) +
			       1;
		done += n;
		off += n;
	}
	return 0;
}
