/* Offsets of open file descriptions. That of a description this library opened itself is a word
 * in memory, which the processes made by fork share as they share the description; read, write
 * and lseek then need no system call for it. At the first exec, or whatever else takes the
 * description where nobody knows of the word, the offset is yielded to the kernel for good.
 *
 * Lock-free, async-signal-safe, in vfork children, too. */
#ifndef LEAT_PRELOAD_FD_OFFSET_H
#define LEAT_PRELOAD_FD_OFFSET_H

#include "shm/word.h"

#include <stdbool.h>
#include <stdint.h>

struct leat_offset {
	struct leat_word word;
	uint64_t forks; /* of this process when it was made */
	struct leat_offset *next;
	uint64_t pad[5];
};
_Static_assert(sizeof(struct leat_offset) == 64, "one cache line a description");

#define LEAT_OFFSET_OWNED (UINT64_C(1) << 63)
#define LEAT_OFFSET_MOVING (UINT64_C(1) << 62) /* being yielded */
#define LEAT_OFFSET_LOST (UINT64_C(1) << 61)   /* nobody knows where it is */
#define LEAT_OFFSET_VALUE (LEAT_OFFSET_LOST - 1)

/* A word for a description whose offset is 0. NULL: there are none left, the kernel keeps it. */
struct leat_offset *leat_offset_new(void);
/* The description's last descriptor here is closed. NULL is allowed. */
void leat_offset_free(struct leat_offset *p);

/* Set the kernel's offset, by any descriptor of the description, and leave it to the kernel from
 * now on. NULL is allowed. */
void leat_offset_release(struct leat_offset *p, int fd);

/* This process opened the description, and has not forked since: nobody else moves its offset. */
bool leat_offset_is_ours(const struct leat_offset *p);

/* Wait until somebody has yielded. False if the offset is the kernel's, or lost. */
bool leat_offset_await(struct leat_offset *p);

/* Who was to yield it was killed, or stopped for good: the kernel's offset must not be used. NULL
 * is allowed. */
static inline bool leat_offset_is_lost(const struct leat_offset *p)
{
	return p && leat_word_get(&p->word) & LEAT_OFFSET_LOST;
}

/* The offset. False: it is the kernel's. */
static inline bool leat_offset_get(struct leat_offset *p, uint64_t *offset)
{
	uint64_t word;

	if (!p)
		return false;
	word = leat_word_get(&p->word);
	if (word & LEAT_OFFSET_MOVING) {
		if (!leat_offset_await(p))
			return false;
		word = leat_word_get(&p->word);
	}
	*offset = word & LEAT_OFFSET_VALUE;
	return word & LEAT_OFFSET_OWNED;
}

/* Move it. False: it is not `from` any more, or the kernel's. */
static inline bool leat_offset_move(struct leat_offset *p, uint64_t from, uint64_t to)
{
	return leat_word_claim(&p->word, from | LEAT_OFFSET_OWNED, to | LEAT_OFFSET_OWNED);
}

#endif
