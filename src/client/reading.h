/* What a consumer's reads say of what it takes a file for: the same in intercepted programs and
 * behind a mount. Pure. */
#ifndef LEAT_CLIENT_READING_H
#define LEAT_CLIENT_READING_H

#include <stdbool.h>
#include <stdint.h>

/* Is it what programs ask for to fill a buffer, whatever the size of the file: a power of two from
 * 4 KiB to 256 KiB (st_blksize, BUFSIZ, the buffers of run times and of coreutils)? */
bool leat_read_fills_buffer(uint64_t asked);

/* Was a request for `asked` bytes at `offset` derived from `size`, which fstat showed before the
 * file was complete? `read_end` is where the reads before it ended; `asked` 0: a seek to `offset`.
 * docs/explanation/semantics.md, "early size". */
bool leat_read_trusts_size(uint64_t size, uint64_t read_end, uint64_t offset, uint64_t asked);

/* The same of a mapping of [offset, offset + length), whose end may be that of a page. */
bool leat_map_trusts_size(uint64_t size, uint64_t offset, uint64_t length);

/* How far a description of a version was read, while that is no more than a look; starts as 0. */
struct leat_glance {
	uint64_t end;   /* of what was read */
	uint64_t limit; /* up to here it is a look; 0: LEAT_LOOK_BYTES */
};

/* Programs that find out what kind of file it is read so much. */
#define LEAT_LOOK_BYTES 4096u

/* `n` bytes of `asked` were read at `offset`, of a version of `size` bytes; UINT64_MAX: it is not
 * complete yet. True: the version is read, not looked at. docs/explanation/versions.md. */
bool leat_glance_exceeds(struct leat_glance *g, uint64_t offset, uint64_t n, uint64_t asked,
			 uint64_t size);

#endif
