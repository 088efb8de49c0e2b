/* The parent directory a thread asked for last, if it lies outside: most calls go to the same
 * one again, and comparing is half the price of cutting and hashing. Each thread has its own;
 * a signal handler may fill it while the thread reads it. */
#ifndef LEAT_PRELOAD_PATH_OUTSIDE_CACHE_H
#define LEAT_PRELOAD_PATH_OUTSIDE_CACHE_H

#include "preload/path/cut.h"

#include <stdbool.h>
#include <stdint.h>

enum { LEAT_OUTSIDE_CACHE_WORDS = 16, LEAT_OUTSIDE_CACHE_PAGE = 4096 };

struct leat_outside_cache {
	uint64_t hash;   /* of the parent seen last */
	uint64_t seed;   /* of the hashes; another one: what follows is no longer valid */
	uint32_t length; /* bytes of the parent with its "/"; 0: none */
	uint32_t filled; /* how often */
	bool filling;    /* a handler must not */
	uint64_t words[LEAT_OUTSIDE_CACHE_WORDS + 1];
};

#define LEAT_OUTSIDE_CACHE_BARRIER() __asm__ volatile("" ::: "memory")

/* The words of a path may reach behind its end, but not into the next page. */
static inline bool leat_outside_cache_may_load(const char *path)
{
	return (uintptr_t)path % LEAT_OUTSIDE_CACHE_PAGE <=
	       LEAT_OUTSIDE_CACHE_PAGE - 8 * (LEAT_OUTSIDE_CACHE_WORDS + 2);
}

/* A last component that is plain: not empty, no ".", no further "/". Begins anywhere. */
static inline bool leat_outside_cache_is_plain(const char *last)
{
	size_t left = LEAT_OUTSIDE_CACHE_PAGE - (uintptr_t)last % LEAT_OUTSIDE_CACHE_PAGE;
	uint64_t word, zeros, slashes;

	if (!*last || *last == '.')
		return false;
	for (; left >= 8; last += 8, left -= 8) {
		word = leat_hash_load(last);
		zeros = leat_cut_first_zero(word);
		slashes = leat_cut_zeros(word ^ (LEAT_CUT_ONES * '/'));
		if (zeros)
			return !(slashes & ((zeros & -zeros) - 1));
		if (slashes)
			return false;
	}
	return false; /* the page ends */
}

/* True: `path` is a plain name in the parent remembered under this seed. */
static inline bool leat_outside_cache_has(const struct leat_outside_cache *r, const char *path,
					  uint64_t seed)
{
	uint32_t filled = r->filled, length = r->length;
	uint64_t other = r->seed ^ seed;
	uint32_t i;

	LEAT_OUTSIDE_CACHE_BARRIER();
	if (!length || !leat_outside_cache_may_load(path))
		return false;
	for (i = 0; i < length / 8; i++)
		other |= leat_hash_load(path + (size_t)8 * i) ^ r->words[i];
	other |= (leat_hash_load(path + (size_t)8 * i) ^ r->words[i]) &
		 ((UINT64_C(1) << 8 * (length % 8)) - 1);
	LEAT_OUTSIDE_CACHE_BARRIER();
	return !other && r->filled == filled && leat_outside_cache_is_plain(path + length);
}

/* Is this parent seen twice running? Only then it is worth remembering. */
static inline bool leat_outside_cache_again(struct leat_outside_cache *r, uint64_t hash)
{
	bool again = r->hash == hash;

	r->hash = hash;
	return again;
}

/* Remember the parent of `path`, its first `length` bytes. What does not end in "/" (a path
 * that ends in "..") or is too long is left alone. */
static inline void leat_outside_cache_fill(struct leat_outside_cache *r, const char *path,
					   size_t length, uint64_t seed)
{
	if (r->filling || !length || path[length - 1] != '/' ||
	    length > 8 * LEAT_OUTSIDE_CACHE_WORDS || !leat_outside_cache_may_load(path))
		return;
	r->filling = true;
	r->length = 0;
	r->filled++;
	LEAT_OUTSIDE_CACHE_BARRIER();
	for (size_t i = 0; i <= length / 8; i++)
		r->words[i] = leat_hash_load(path + 8 * i);
	r->seed = seed;
	LEAT_OUTSIDE_CACHE_BARRIER();
	r->length = (uint32_t)length;
	r->filling = false;
}

#endif
