#include "preload/cut.h"

#include <stdbool.h>

#define ONES UINT64_C(0x0101010101010101)
#define LOW UINT64_C(0x7f7f7f7f7f7f7f7f)

static uint64_t load(const char *at)
{
	uint64_t word;

	__builtin_memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* The high bit of each byte that is 0, and no other. */
static uint64_t zero_bytes(uint64_t word)
{
	return ~(((word & LOW) + LOW) | word | LOW);
}

/* Length, and the position behind the last slash (0: there is none). By aligned
 * words, which never reach into a page that is not there. */
static size_t scan(const char *path, size_t *behind_slash)
{
	size_t skew = (uintptr_t)path % 8, last = 0;
	const char *at = path - skew;
	/* bytes before the path are made neither 0 nor "/" */
	uint64_t word = load(at) | ((UINT64_C(1) << (8 * skew)) - 1);
	uint64_t zeros, slashes;

	for (;; word = load(at)) {
		zeros = zero_bytes(word);
		slashes = zero_bytes(word ^ (ONES * '/'));
		if (zeros)
			slashes &= (zeros & -zeros) - 1;
		if (slashes)
			last = (size_t)(at - path) + 8 - (size_t)__builtin_clzll(slashes) / 8;
		if (zeros)
			break;
		at += 8;
	}
	*behind_slash = last;
	return (size_t)(at - path) + (size_t)__builtin_ctzll(zeros) / 8;
}

static bool is_dots(const char *name, size_t length)
{
	return length && length <= 2 && name[0] == '.' && name[length - 1] == '.';
}

/* Slashes at the end belong to nobody. */
static void cut_slashes(const char *path, struct leat_cut *c)
{
	size_t end = c->length, start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start && path[start - 1] != '/')
		start--;
	c->parent = start;
	c->last = path + start;
	c->last_length = end - start;
}

void leat_cut(const char *path, struct leat_cut *c)
{
	c->length = scan(path, &c->parent);
	c->last = path + c->parent;
	c->last_length = c->length - c->parent;
	if (!c->last_length)
		cut_slashes(path, c);
	if (is_dots(c->last, c->last_length)) {
		c->parent += c->last_length;
		c->last = "";
		c->last_length = 0;
	}
}

#define PRIME UINT64_C(0x9e3779b97f4a7c15)

static uint64_t add(uint64_t hash, uint64_t word)
{
	return (hash << 23 | hash >> 41) ^ word * PRIME;
}

static uint64_t short_word(const char *text, size_t length)
{
	uint64_t word = 0;

	for (size_t i = 0; i < length; i++)
		word = word << 8 | (unsigned char)text[i];
	return word;
}

uint64_t leat_cut_hash(const char *text, size_t length, uint64_t seed)
{
	uint64_t hash = seed + length;
	size_t at = 0;

	if (length < 8) {
		hash = add(hash, short_word(text, length));
	} else {
		for (; length - at > 32; at += 16)
			hash = add(add(hash, load(text + at)), load(text + at + 8));
		if (length - at > 16)
			hash = add(add(hash, load(text + at)), load(text + length - 16));
		hash = add(add(hash, load(text + at + (length - at > 16 ? 8 : 0))),
			   load(text + length - 8));
	}
	hash *= PRIME;
	return hash ^ hash >> 32;
}
