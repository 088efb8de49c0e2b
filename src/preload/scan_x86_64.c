/* The one file compiled with vector instructions: it runs once, before main, and 1.6 MB of text are
 * on the way of the first program. */
#include <emmintrin.h>

#include "preload/code_x86_64.h"
#include "preload/scan_x86_64.h"

#define SYSCALL_SIZE 2

/* What the vectors leave. */
static int scan_rest(const struct leat_code *code, uint8_t *p, struct leat_patch_sites *sites)
{
	int error = 0;

	for (; p + SYSCALL_SIZE <= code->text + code->size && !error; p++)
		if (p[0] == 0x0f && p[1] == 0x05)
			error = leat_look_at(code, p, sites);
	return error;
}

int leat_scan_text(const struct leat_code *code, struct leat_patch_sites *sites)
{
	const __m128i first = _mm_set1_epi8(0x0f), second = _mm_set1_epi8(0x05);
	uint8_t *end = code->text + code->size, *p;

	for (p = code->text; p + sizeof first < end; p += sizeof first) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
		unsigned hits = (unsigned)_mm_movemask_epi8(
			_mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, second)));

		for (; hits; hits &= hits - 1) {
			int error = leat_look_at(code, p + __builtin_ctz(hits), sites);

			if (error)
				return error;
		}
	}
	return scan_rest(code, p, sites);
}
