/* The one file compiled with vector instructions: it runs once, before main, and 1.6 MB of text are
 * on the way of the first program. */
#include <emmintrin.h>
#include <errno.h>
#include <string.h>

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

static int scan_calls(const struct leat_code *code, struct leat_patch_sites *sites)
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

/* Where sites are: a bit for some bytes, shared by many others. */
enum { PLACES = 32768, BYTES = 64 };

static size_t place_of(uintptr_t address)
{
	return address / BYTES % PLACES;
}

static void note_places(const struct leat_patch_sites *sites, size_t first, uint64_t *places)
{
	memset(places, 0, PLACES / 8);
	for (; first < sites->count; first++) {
		const struct leat_patch_site *site = &sites->site[first];

		for (uintptr_t at = (uintptr_t)site->patch;
		     site->is_moved && at <= (uintptr_t)site->call; at++)
			places[place_of(at) / 64] |= UINT64_C(1) << place_of(at) % 64;
	}
}

static bool may_be_noted(const uint64_t *places, const uint8_t *distance)
{
	int32_t far;
	size_t place;

	memcpy(&far, distance, sizeof far);
	place = place_of((uintptr_t)distance + 4 + (uintptr_t)(intptr_t)far);
	return places[place / 64] >> place % 64 & 1;
}

/* jmp is 0xe9, jcc 0x0f 0x8x, before a distance of four bytes. Parts of a function may lie far from
 * each other: jumps between them are looked for once, for all sites. */
static bool scan_jumps(const struct leat_code *code, const struct leat_patch_sites *sites,
		       size_t first)
{
	const __m128i jmp = _mm_set1_epi8((char)0xe9), jcc = _mm_set1_epi8((char)0x80);
	const __m128i high = _mm_set1_epi8((char)0xf0), escape = _mm_set1_epi8(0x0f);
	const uint8_t *end = code->text + code->size;
	uint64_t places[PLACES / 64];

	note_places(sites, first, places);
	for (const uint8_t *p = code->text + 1; p + sizeof jmp + 4 < end; p += sizeof jmp) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p - 1));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i far = _mm_and_si128(_mm_cmpeq_epi8(a, escape),
					    _mm_cmpeq_epi8(_mm_and_si128(b, high), jcc));
		unsigned hits =
			(unsigned)_mm_movemask_epi8(_mm_or_si128(far, _mm_cmpeq_epi8(b, jmp)));

		for (; hits; hits &= hits - 1) {
			const uint8_t *distance = p + __builtin_ctz(hits) + 1;

			if (may_be_noted(places, distance) &&
			    leat_look_for_jump(code, sites, first, distance))
				return true;
		}
	}
	return false;
}

int leat_scan_text(const struct leat_code *code, struct leat_patch_sites *sites)
{
	size_t first = sites->count;
	int error = scan_calls(code, sites);

	if (!error && sites->count > first && scan_jumps(code, sites, first))
		error = -ENOEXEC;
	return error;
}
