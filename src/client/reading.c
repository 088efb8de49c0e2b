#include "client/reading.h"

#define PAGE 4096u
#define MIN_BUFFER 4096u
#define MAX_BUFFER (256u << 10)
/* The last eighth of a file is its end. */
#define TAIL 8u
/* Who reads buffer by buffer as far as this does not look at a header. */
#define MAX_HEADER (256u << 10)

bool leat_read_fills_buffer(uint64_t asked)
{
	return asked >= MIN_BUFFER && asked <= MAX_BUFFER && !(asked & (asked - 1));
}

bool leat_read_trusts_size(uint64_t size, uint64_t read_end, uint64_t offset, uint64_t asked)
{
	/* Formats with their directory at the end: it leaves something out to get there. */
	if (offset > read_end && (offset >= size || size - offset <= size / TAIL))
		return true;
	if (!asked || asked > size || offset != size - asked)
		return false;
	return !leat_read_fills_buffer(asked) || size > MAX_HEADER;
}

bool leat_map_trusts_size(uint64_t size, uint64_t offset, uint64_t length)
{
	uint64_t end = offset + length, rest = size % PAGE;

	/* Of a file of less than a page that is what everybody maps. */
	return end == size || (rest && size > PAGE && end == size + PAGE - rest);
}

bool leat_glance_exceeds(struct leat_glance *g, uint64_t offset, uint64_t n, uint64_t asked,
			 uint64_t size)
{
	const uint64_t end = offset + n;

	if (n < asked || end >= size)
		return true;
	/* Who leaves out something of so small a file looks for data (HDF5). */
	if (offset > g->end && size <= LEAT_LOOK_BYTES)
		return true;
	if (!offset && !g->end && leat_read_fills_buffer(asked))
		g->limit = asked;
	if (end > g->end)
		g->end = end;
	return end > LEAT_LOOK_BYTES && end > g->limit;
}
