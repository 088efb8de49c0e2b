/* Cutting a path: done for every path call of the program, so inline and with few
 * branches. After a system call the processor has forgotten how loops end. */
#ifndef LEAT_PRELOAD_PATH_CUT_H
#define LEAT_PRELOAD_PATH_CUT_H

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

/* A path cut into parent and last component. */
struct leat_cut {
	size_t length;
	size_t parent;      /* bytes, with its "/"; 0: the directory the path starts from */
	const char *last;   /* "" if the whole is to be taken as a directory: "..", "a/." */
	size_t last_length; /* without trailing slashes */
};

/* The rest of leat_cut for paths that end in "/", "." or "..". */
void leat_cut_directory(const char *path, struct leat_cut *c);

/* --- words of eight bytes, the first byte lowest --- */

#define LEAT_CUT_ONES UINT64_C(0x0101010101010101)
#define LEAT_CUT_LOW UINT64_C(0x7f7f7f7f7f7f7f7f)

/* The high bit of each byte that is 0, and perhaps of bytes above the first of them. */
static inline uint64_t leat_cut_first_zero(uint64_t word)
{
	return (word - LEAT_CUT_ONES) & ~word & ~LEAT_CUT_LOW;
}

/* The high bit of each byte that is 0, and no other. */
static inline uint64_t leat_cut_zeros(uint64_t word)
{
	return ~(((word & LEAT_CUT_LOW) + LEAT_CUT_LOW) | word | LEAT_CUT_LOW);
}

/* leat_hash_load of an aligned word: that never reaches into a page that is not there, but beyond
 * the text's end, which a sanitizer is not to take for a mistake. */
__attribute__((no_sanitize("address"))) static inline uint64_t leat_cut_load(const char *at)
{
	uint64_t word;

	__builtin_memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Length, and the position behind the last slash (0: there is none). By aligned words. */
__attribute__((no_sanitize("address"))) static inline size_t leat_cut_scan(const char *path,
									   size_t *behind_slash)
{
	size_t skew = (uintptr_t)path % 8;
	const char *at = path - skew, *slash_at = path;
	/* bytes before the path are made neither 0 nor "/" */
	uint64_t word = leat_cut_load(at) | ((UINT64_C(1) << (8 * skew)) - 1);
	uint64_t zeros, slashes, last = 0;

	for (;; word = leat_cut_load(at)) {
		zeros = leat_cut_first_zero(word);
		slashes = leat_cut_zeros(word ^ (LEAT_CUT_ONES * '/'));
		if (zeros)
			break;
		slash_at = slashes ? at : slash_at;
		last = slashes ? slashes : last;
		at += 8;
	}
	slashes &= (zeros & -zeros) - 1;
	slash_at = slashes ? at : slash_at;
	last = slashes ? slashes : last;
	*behind_slash =
		last ? (size_t)(slash_at - path) + 8 - (size_t)__builtin_clzll(last) / 8 : 0;
	return (size_t)(at - path) + (size_t)__builtin_ctzll(zeros) / 8;
}

static inline void leat_cut(const char *path, struct leat_cut *c)
{
	c->length = leat_cut_scan(path, &c->parent);
	c->last = path + c->parent;
	c->last_length = c->length - c->parent;
	if (c->last_length <= 2 && (!c->last_length || c->last[0] == '.'))
		leat_cut_directory(path, c);
}

#endif
