/* Many things of one size: freed ones are used again, memory is asked for in chunks. */
#ifndef LEAT_TASK_SLAB_H
#define LEAT_TASK_SLAB_H

#include <stddef.h>

struct leat_slab_chunk;

/* Set up by leat_slab_init. Its callers see to it that one thread at a time uses it. */
struct leat_slab {
	size_t size;                    /* bytes of a thing */
	size_t n_free;                  /* things in `free` */
	void *free;                     /* borrowed: list through the first word of each */
	struct leat_slab_chunk *chunks; /* owned */
};

/* `size` in bytes. */
void leat_slab_init(struct leat_slab *slab, size_t size);

/* See to it that the next `n` leat_slab_get succeed. 0 or -ENOMEM. */
int leat_slab_reserve(struct leat_slab *slab, size_t n);

/* A thing, its bytes anything, aligned for any type; NULL when out of memory. */
void *leat_slab_get(struct leat_slab *slab);

/* NULL is allowed. */
void leat_slab_put(struct leat_slab *slab, void *thing);

/* Give all memory back, also of things that are in use. */
void leat_slab_release(struct leat_slab *slab);

#endif
