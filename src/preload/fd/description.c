#include "preload/fd/description.h"

#include "preload/core/fd_kinds.h"
#include "shm/word.h"

/* By index: how often it was taken above, how many descriptors refer to it below. */
static struct leat_word counts[LEAT_MAX_FD];

#define REFERENCES UINT64_C(0xffffffff)
#define TAKEN (REFERENCES + 1)

/* An id is the upper half of the count, and the index below. */
static struct leat_word *count_of(uint64_t id)
{
	return &counts[(uint32_t)id % LEAT_MAX_FD];
}

static bool is_of(uint64_t id, uint64_t count)
{
	return id >> 32 == count >> 32 && count & REFERENCES;
}

/* Mostly the place of the descriptor's own number is free: its description ended with the one that
 * had it before, unless that was copied. */
uint64_t leat_description_new(int fd)
{
	for (uint32_t i = 0; i < LEAT_MAX_FD; i++) {
		uint32_t at = ((uint32_t)fd + i) % LEAT_MAX_FD;
		uint64_t old = leat_word_get(&counts[at]), next;

		next = (old & ~REFERENCES) + TAKEN + 1;
		if (!(old & REFERENCES) && leat_word_claim(&counts[at], old, next))
			return (next & ~REFERENCES) | at;
	}
	return 0;
}

/* Add `n`, 1 or -1; what it was before, or 0: it is gone. */
static uint64_t change(uint64_t id, uint64_t n)
{
	struct leat_word *count = count_of(id);
	uint64_t old;

	do {
		old = leat_word_get(count);
		if (!is_of(id, old))
			return 0;
	} while (!leat_word_claim(count, old, old + n));
	return old;
}

bool leat_description_hold(uint64_t id)
{
	return change(id, 1) != 0;
}

bool leat_description_drop(uint64_t id)
{
	return (change(id, (uint64_t)-1) & REFERENCES) == 1;
}
