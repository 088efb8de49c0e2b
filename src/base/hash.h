/* A hash of short texts, for tables that compare the text as well: done for every path call of a
 * program, so inline, with few branches, and without vector registers. Any thread,
 * async-signal-safe. */
#ifndef LEAT_BASE_HASH_H
#define LEAT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* --- words of eight bytes, the first byte lowest --- */

static inline uint64_t leat_hash_load(const char *at)
{
	uint64_t word;

	__builtin_memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline uint64_t leat_hash_load4(const char *at)
{
	uint32_t word;

	__builtin_memcpy(&word, at, sizeof(word));
	return word;
}

#define LEAT_HASH_PRIME UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t leat_hash_add(uint64_t hash, uint64_t word)
{
	return (hash << 23 | hash >> 41) ^ word * LEAT_HASH_PRIME;
}

static inline uint64_t leat_hash_short_word(const char *text, size_t length)
{
	const unsigned char *t = (const unsigned char *)text;

	if (length >= 4)
		return leat_hash_load4(text) | leat_hash_load4(text + length - 4) << 32;
	if (!length)
		return 0;
	return t[0] | (uint64_t)t[length / 2] << 8 | (uint64_t)t[length - 1] << 16;
}

/* A hash of the first `length` bytes. Not for hostile input: a program can only
 * deceive itself with it. */
static inline uint64_t leat_hash(const char *text, size_t length, uint64_t seed)
{
	uint64_t hash = seed + length;
	size_t at = 0;

	if (length < 8) {
		hash = leat_hash_add(hash, leat_hash_short_word(text, length));
	} else {
		for (; length - at > 32; at += 16) {
			hash = leat_hash_add(hash, leat_hash_load(text + at));
			hash = leat_hash_add(hash, leat_hash_load(text + at + 8));
		}
		if (length - at > 16) {
			hash = leat_hash_add(hash, leat_hash_load(text + at));
			hash = leat_hash_add(hash, leat_hash_load(text + length - 16));
			at += 8;
		}
		hash = leat_hash_add(hash, leat_hash_load(text + at));
		hash = leat_hash_add(hash, leat_hash_load(text + length - 8));
	}
	hash *= LEAT_HASH_PRIME;
	return hash ^ hash >> 32;
}

#endif
