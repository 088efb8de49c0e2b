/* A piece of machine code, and what the unwind tables say of its functions. */
#ifndef LEAT_PRELOAD_ENGINE_CODE_X86_64_H
#define LEAT_PRELOAD_ENGINE_CODE_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct leat_code {
	uint8_t *text;
	size_t size;
	const uint8_t *frames; /* .eh_frame_hdr; NULL: there is none */
	size_t frames_size;    /* up to the end of the segment it is in */
	ptrdiff_t skew;        /* added to addresses of functions: the two are not loaded yet */
	const char *file;      /* its name, and where in it the text begins */
	uint64_t offset;
	bool is_libc;                 /* or the loader */
	struct leat_code_flow *space; /* to read functions in */
};

/* Four bytes that need not be aligned. */
static inline uint32_t leat_code_load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Is the address in a section that the file says is code? Files without sections say so of all. */
bool leat_code_is_text(const struct leat_code *code, const uint8_t *at);

/* The function that `at` is in, by its unwind table: up to *end. NULL: it is in none. */
const uint8_t *leat_code_function(const struct leat_code *code, const uint8_t *at,
				  const uint8_t **end);

/* Does a jump from the code between `start` and `end` lead into (`from`, `to`]? Bytes are taken for
 * jumps as they come, so this may see one where there is none. */
bool leat_code_is_entered(const uint8_t *start, const uint8_t *end, const uint8_t *from,
			  const uint8_t *to);

#endif
