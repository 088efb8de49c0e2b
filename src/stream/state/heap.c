#include "stream/state/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are multiples of 16 bytes; what is freed is kept by size. Larger ones are not used again.
 */
enum { GRAIN = 16, CLASSES = 128 };

/* In front of each block. */
struct block {
	size_t size;        /* without this */
	struct block *next; /* when free */
};

_Static_assert(sizeof(struct block) == GRAIN, "blocks stay aligned");

/* At the beginning of the memory, so that it is kept with it. */
struct leat_heap {
	size_t used, size;
	struct block *free[CLASSES];
};

_Static_assert(sizeof(struct leat_heap) % GRAIN == 0, "blocks are aligned");

static struct leat_heap *current;

static void *take(size_t size)
{
	size_t grains = size / GRAIN + (size % GRAIN || !size), bytes = grains * GRAIN;
	struct block *b = grains < CLASSES ? current->free[grains] : NULL;

	if (b) {
		current->free[grains] = b->next;
	} else {
		if (bytes < size || current->size - current->used < bytes + sizeof(*b))
			return NULL;
		b = (struct block *)(void *)((char *)current + current->used);
		current->used += bytes + sizeof(*b);
		b->size = bytes;
	}
	return memset(b + 1, 0, bytes);
}

void *leat_heap_alloc(size_t n, size_t size)
{
	size_t bytes;

	if (!current)
		return calloc(n, size);
	return __builtin_mul_overflow(n, size, &bytes) ? NULL : take(bytes);
}

static bool is_inside(const void *p)
{
	uintptr_t at = (uintptr_t)p, base = (uintptr_t)current;

	return current && at > base && at < base + current->size;
}

void leat_heap_free(void *p)
{
	struct block *b;
	size_t grains;

	if (!is_inside(p)) {
		free(p);
		return;
	}
	b = (struct block *)p - 1;
	grains = b->size / GRAIN;
	if (grains >= CLASSES)
		return;
	b->next = current->free[grains];
	current->free[grains] = b;
}

void *leat_heap_resize(void *old, size_t n, size_t size)
{
	const struct block *b;
	void *p;

	if (!current)
		return reallocarray(old, n, size);
	p = leat_heap_alloc(n, size);
	if (!p || !old)
		return p;
	b = (const struct block *)old - 1;
	memcpy(p, old, b->size < n * size ? b->size : n * size);
	leat_heap_free(old);
	return p;
}

char *leat_heap_copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = leat_heap_alloc(size, 1);

	return copy ? memcpy(copy, text, size) : NULL;
}

struct leat_heap *leat_heap_new(size_t size)
{
	struct leat_heap *heap = malloc(size + sizeof(*heap));

	if (!heap)
		return NULL;
	heap->size = size + sizeof(*heap);
	leat_heap_clear(heap);
	return heap;
}

void leat_heap_destroy(struct leat_heap *heap)
{
	free(heap);
}

struct leat_heap *leat_heap_use(struct leat_heap *heap)
{
	struct leat_heap *before = current;

	current = heap;
	return before;
}

size_t leat_heap_used(const struct leat_heap *heap)
{
	return heap->used;
}

void leat_heap_keep(const struct leat_heap *heap, void *to)
{
	memcpy(to, heap, heap->used);
}

void leat_heap_put_back(struct leat_heap *heap, const void *from)
{
	memcpy(heap, from, ((const struct leat_heap *)from)->used);
}

void leat_heap_clear(struct leat_heap *heap)
{
	memset(heap->free, 0, sizeof(heap->free));
	heap->used = sizeof(*heap);
}
