/* The one file compiled with vector instructions: it runs once, before main, and 1.6 MB of text are
 * on the way of the first program. */
#include <emmintrin.h>
#include <errno.h>
#include <string.h>

#include "preload/engine/scan_x86_64.h"

#include "preload/engine/code_x86_64.h"

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

/* Where sites are: a bit for some bytes, shared by many others. And what is near to them: a bit for
 * a block from which a jump of SHORT bytes at most could lead there. */
enum { ADDRESSES = 32768, BYTES = 64, BLOCKS = 4096, BLOCK = 4096, SHORT = 32768 };

struct targets {
	uint64_t addresses[ADDRESSES / 64], blocks[BLOCKS / 64];
};

static void set_bit(uint64_t *bits, size_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has_bit(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static size_t address_bit(uintptr_t address)
{
	return address / BYTES % ADDRESSES;
}

static size_t block_of(uintptr_t address)
{
	return address / BLOCK % BLOCKS;
}

static void add_targets(const struct leat_patch_sites *sites, size_t first, struct targets *targets)
{
	memset(targets, 0, sizeof *targets);
	for (; first < sites->count; first++) {
		const struct leat_patch_site *site = &sites->site[first];
		uintptr_t patch = (uintptr_t)site->patch, call = (uintptr_t)site->call;

		if (!site->is_moved)
			continue;
		for (uintptr_t at = patch; at <= call; at++)
			set_bit(targets->addresses, address_bit(at));
		for (uintptr_t at = patch - SHORT - BLOCK; at <= call + SHORT + BLOCK; at += BLOCK)
			set_bit(targets->blocks, block_of(at));
	}
}

static bool may_lead_there(const struct targets *targets, const uint8_t *distance)
{
	int32_t far;

	memcpy(&far, distance, sizeof far);
	return has_bit(targets->addresses,
		       address_bit((uintptr_t)distance + 4 + (uintptr_t)(intptr_t)far));
}

/* Of 16 bytes from `p` on, those that end the opcode of a jump with a distance of four bytes behind
 * it: jmp is 0xe9, jcc 0x0f 0x8x. */
static unsigned find_jumps(const uint8_t *p)
{
	const __m128i jmp = _mm_set1_epi8((char)0xe9), jcc = _mm_set1_epi8((char)0x80);
	const __m128i high = _mm_set1_epi8((char)0xf0), escape = _mm_set1_epi8(0x0f);
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p - 1));
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i far = _mm_and_si128(_mm_cmpeq_epi8(a, escape),
				    _mm_cmpeq_epi8(_mm_and_si128(b, high), jcc));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(far, _mm_cmpeq_epi8(b, jmp)));
}

/* Of these, those whose distance is one of two bytes with their sign: below SHORT. */
static unsigned find_short(const uint8_t *p)
{
	__m128i low = _mm_loadu_si128((const __m128i *)(const void *)(p + 2));
	__m128i sign = _mm_cmpgt_epi8(_mm_setzero_si128(), low);
	__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(p + 3));
	__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(p + 4));

	return (unsigned)_mm_movemask_epi8(
		_mm_and_si128(_mm_cmpeq_epi8(c, sign), _mm_cmpeq_epi8(d, sign)));
}

/* Parts of a function may lie far from each other: jumps between them are looked for once, for all
 * sites. Most jumps are short, and most of the text is far from the few sites that matter. */
static bool scan_jumps(const struct leat_code *code, const struct leat_patch_sites *sites,
		       size_t first)
{
	const uint8_t *end = code->text + code->size;
	struct targets targets;

	add_targets(sites, first, &targets);
	for (const uint8_t *p = code->text + 1; p + sizeof(__m128i) + 4 < end;
	     p += sizeof(__m128i)) {
		unsigned hits = find_jumps(p);

		if (!has_bit(targets.blocks, block_of((uintptr_t)p)))
			hits &= ~find_short(p);
		for (; hits; hits &= hits - 1) {
			const uint8_t *distance = p + __builtin_ctz(hits) + 1;

			if (may_lead_there(&targets, distance) &&
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
