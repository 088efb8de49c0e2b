/* Windows: writing without system calls; implemented in state.c.
 *
 * A writer that maps a piece of the file and copies small writes into it needs the
 * kernel's size to be ahead. `length` is then the file's length, for all who ask
 * through leat. Whoever needs the kernel's size to be true (another descriptor,
 * truncation, commit) takes the window away first: leat_shm_window_take, cut the file to
 * leat_shm_length, leat_shm_window_give. Writes by the kernel to such a file go on
 * meanwhile, between leat_shm_writing and leat_shm_written. Any thread and process,
 * async-signal-safe. */
#ifndef LEAT_SHM_WINDOW_H
#define LEAT_SHM_WINDOW_H

#include "shm/state.h"

/* Is the kernel's size possibly ahead of the length? */
static inline bool leat_shm_is_ahead(struct leat_shm_file *f)
{
	uint32_t w = atomic_load_explicit(&f->window, memory_order_acquire);

	return w != LEAT_WINDOW_NONE && w != LEAT_WINDOW_SHUT;
}

static inline bool leat_shm_is_shut(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->window, memory_order_relaxed) == LEAT_WINDOW_SHUT;
}

/* Length of a file whose kernel's size is ahead. */
static inline uint64_t leat_shm_reserved(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->length, memory_order_acquire);
}

/* The length of a file by what the kernel says of its size, which may be ahead of it: take the
 * epoch, ask the kernel, ask for the length, and begin again if that says so. */
static inline uint32_t leat_shm_epoch(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->epoch, memory_order_acquire);
}

/* False: the kernel was asked when another size counted. */
static inline bool leat_shm_length(struct leat_shm_file *f, uint32_t epoch, uint64_t size,
				   uint64_t *length)
{
	uint64_t reported;

	atomic_thread_fence(memory_order_acquire);
	reported = atomic_load_explicit(&f->length, memory_order_acquire);
	*length = reported < size ? reported : size;
	return atomic_load_explicit(&f->epoch, memory_order_relaxed) == epoch;
}

/* Begin to copy. Only whoever has made the kernel's size larger may; false: not now. */
static inline bool leat_shm_copy_begin(struct leat_shm_file *f)
{
	uint32_t idle = LEAT_WINDOW_IDLE;

	return atomic_compare_exchange_strong(&f->window, &idle, LEAT_WINDOW_COPY);
}

/* The bytes up to `end` are there; `publish`: for consumers, too. */
void leat_shm_copy_end(struct leat_shm_file *f, uint64_t end, bool publish);

/* Take the right to change the kernel's size. From NONE only if `begin`: then the size is true,
 * and leat_shm_window_begin is to follow before it is made larger. False: not now, or never again,
 * or there is nothing to be changed. `force`: nobody can be at it any more. */
bool leat_shm_window_take(struct leat_shm_file *f, bool begin, bool force);
/* The kernel's size, which is `length`, is about to be ahead. */
void leat_shm_window_begin(struct leat_shm_file *f, uint64_t length);
/* Give it back: IDLE (the kernel's size is ahead of `length`), NONE or SHUT. */
void leat_shm_window_give(struct leat_shm_file *f, enum leat_shm_window next, uint64_t length);

/* No windows from now on. False: one is open, take it first. */
bool leat_shm_window_shut(struct leat_shm_file *f);

struct leat_shm_write {
	uint64_t end;
	uint64_t length; /* of the file before */
};

/* A write of [start, end) by the kernel begins: the size stays as it is until it is over.
 * Waits, for at most a moment, while somebody changes the size. False: that did not end, or the
 * kernel's size is ahead and the write begins beyond the length: make the size true first. */
bool leat_shm_writing(struct leat_shm_file *f, uint64_t start, uint64_t end,
		      struct leat_shm_write *w);
/* It has ended, at `end`. */
void leat_shm_written(struct leat_shm_file *f, const struct leat_shm_write *w, uint64_t end);

#endif
