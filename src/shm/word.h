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

/* Bits that threads set and take back one by one, and no two undo each other's. */
struct leat_bits {
	_Atomic uint32_t value;
};

static inline uint32_t leat_bits_get(const struct leat_bits *b, uint32_t mask)
{
	return atomic_load_explicit(&b->value, memory_order_relaxed) & mask;
}

/* All of them anew. */
static inline void leat_bits_put(struct leat_bits *b, uint32_t bits)
{
	atomic_store_explicit(&b->value, bits, memory_order_relaxed);
}

static inline void leat_bits_set(struct leat_bits *b, uint32_t mask)
{
	if (leat_bits_get(b, mask) != mask)
		atomic_fetch_or(&b->value, mask);
}

static inline void leat_bits_clear(struct leat_bits *b, uint32_t mask)
{
	if (leat_bits_get(b, mask))
		atomic_fetch_and(&b->value, ~mask);
}

/* A byte that is not of an atomic type, because assembly reads it. */
static inline uint8_t leat_byte_get(const uint8_t *byte)
{
	return __atomic_load_n(byte, __ATOMIC_RELAXED);
}

static inline void leat_byte_set(uint8_t *byte, uint8_t value)
{
	__atomic_store_n(byte, value, __ATOMIC_RELEASE);
}

/* Set to `value` if it still is `expected`. */
static inline bool leat_byte_claim(uint8_t *byte, uint8_t expected, uint8_t value)
{
	return __atomic_compare_exchange_n(byte, &expected, value, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
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
