/* Words shared by the threads of one process: caches and counters of the
 * interception library, which may neither lock nor allocate. Any thread,
 * async-signal-safe. */
#ifndef LEAT_SHM_WORD_H
#define LEAT_SHM_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct leat_word {
	_Atomic uint64_t value;
};

/* What the writer did before leat_word_set is seen by who gets the value. */
static inline uint64_t leat_word_get(const struct leat_word *w)
{
	return atomic_load_explicit(&w->value, memory_order_acquire);
}

static inline void leat_word_set(struct leat_word *w, uint64_t value)
{
	atomic_store_explicit(&w->value, value, memory_order_release);
}

/* Returns the value before. */
static inline uint64_t leat_word_add(struct leat_word *w, uint64_t n)
{
	return atomic_fetch_add(&w->value, n);
}

static inline uint64_t leat_word_swap(struct leat_word *w, uint64_t value)
{
	return atomic_exchange(&w->value, value);
}

/* Set to `value` if it still is `expected`. */
static inline bool leat_word_claim(struct leat_word *w, uint64_t expected, uint64_t value)
{
	return atomic_compare_exchange_strong(&w->value, &expected, value);
}

/* Data behind a sequence word: odd while somebody writes it. The writer claims an even
 * value, writes, and sets the next even one with leat_word_set. The reader gets an even
 * value, copies, and throws the copy away unless the word is still the same. */
static inline bool leat_word_write_begin(struct leat_word *w, uint64_t even)
{
	bool claimed = leat_word_claim(w, even, even + 1);

	atomic_thread_fence(memory_order_release);
	return claimed;
}

static inline bool leat_word_still(const struct leat_word *w, uint64_t even)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&w->value, memory_order_relaxed) == even;
}

#endif
