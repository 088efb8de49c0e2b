#include "preload/fd/offset.h"

#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/process.h"
#include "shm/word.h"

#include <sys/mman.h>
#include <unistd.h>

/* So many descriptions of one process tree without exec have a word. */
enum { OFFSETS = 16384, MAX_SLEEPS = 50000 };

/* Shared with the processes made by fork. */
struct region {
	struct leat_word used;
	uint64_t pad[7];
	struct leat_offset offsets[OFFSETS];
};
static struct leat_word region;   /* struct region * */
static struct leat_word recycled; /* struct leat_offset *, taken as a whole */

static struct region *get_region(void)
{
	uint64_t known = leat_word_get(&region);
	long at;

	if (known)
		return (struct region *)(uintptr_t)known;
	at = raw(SYS_mmap, 0, sizeof(struct region), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return NULL;
	if (!leat_word_claim(&region, 0, (uint64_t)at))
		raw(SYS_munmap, at, sizeof(struct region));
	return (struct region *)(uintptr_t)leat_word_get(&region);
}

/* The chain is taken off whole, so that nobody meets a word twice. What was freed
 * before a fork is on the child's chain, too, and used by neither. */
static struct leat_offset *reuse(void)
{
	struct leat_offset *p = (struct leat_offset *)(uintptr_t)leat_word_swap(&recycled, 0);

	if (p && p->forks != leat_word_get(&leat_forks))
		return NULL;
	if (p && p->next && !leat_word_claim(&recycled, 0, (uintptr_t)p->next))
		p->next = NULL; /* others were freed meanwhile: this rest is lost */
	return p;
}

struct leat_offset *leat_offset_new(void)
{
	struct leat_offset *p = reuse();
	struct region *r;
	uint64_t i;

	if (!p) {
		r = get_region();
		if (!r || leat_word_get(&r->used) >= OFFSETS)
			return NULL;
		i = leat_word_add(&r->used, 1);
		if (i >= OFFSETS)
			return NULL;
		p = &r->offsets[i];
	}
	p->forks = leat_word_get(&leat_forks);
	p->next = NULL;
	leat_word_set(&p->word, LEAT_OFFSET_OWNED);
	return p;
}

/* A child may still have it: then it is not used again. */
void leat_offset_free(struct leat_offset *p)
{
	uint64_t head;

	if (!p || p->forks != leat_word_get(&leat_forks))
		return;
	do {
		head = leat_word_get(&recycled);
		p->next = (struct leat_offset *)(uintptr_t)head;
	} while (!leat_word_claim(&recycled, head, (uintptr_t)p));
}

bool leat_offset_is_ours(const struct leat_offset *p)
{
	return p && p->forks == leat_word_get(&leat_forks);
}

bool leat_offset_await(struct leat_offset *p)
{
	uint64_t word = leat_word_get(&p->word);

	for (int i = 0; word & LEAT_OFFSET_MOVING; i++) {
		if (i < MAX_SLEEPS)
			leat_sleep(LEAT_SLEEP_NS);
		else
			leat_word_claim(&p->word, word, LEAT_OFFSET_LOST);
		word = leat_word_get(&p->word);
	}
	return word & LEAT_OFFSET_OWNED && !(word & LEAT_OFFSET_MOVING);
}

void leat_offset_release(struct leat_offset *p, int fd)
{
	uint64_t mask, word;

	if (!p || !(leat_word_get(&p->word) & LEAT_OFFSET_OWNED))
		return;
	/* A handler that came in between would wait for us. */
	leat_block_signals(&mask);
	do {
		word = leat_word_get(&p->word);
	} while ((word & LEAT_OFFSET_OWNED) && !(word & LEAT_OFFSET_MOVING) &&
		 !leat_word_claim(&p->word, word, word | LEAT_OFFSET_MOVING));
	if (word & LEAT_OFFSET_MOVING) {
		leat_offset_await(p);
	} else if (word & LEAT_OFFSET_OWNED) {
		raw(SYS_lseek, fd, word & LEAT_OFFSET_VALUE, SEEK_SET);
		leat_word_claim(&p->word, word | LEAT_OFFSET_MOVING, 0); /* unless it is lost */
	}
	leat_restore_signals(&mask);
}
