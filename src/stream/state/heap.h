/* The memory of streams. It is the C library's, unless a heap of its own is in use: that one can
 * be copied whole and put back later, and with it every stream in it as it was. The model
 * checker goes back to where it has been a million times a second. One thread. */
#ifndef LEAT_STREAM_HEAP_H
#define LEAT_STREAM_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* As calloc, reallocarray, strdup and free. */
void *leat_heap_alloc(size_t n, size_t size);
void *leat_heap_resize(void *old, size_t n, size_t size);
char *leat_heap_copy(const char *text);
/* Also of what the C library has given. */
void leat_heap_free(void *p);

struct leat_heap;

/* A heap of at most `size` bytes. NULL when out of memory. */
struct leat_heap *leat_heap_new(size_t size);
/* With all that is in it. */
void leat_heap_destroy(struct leat_heap *heap);

/* From now on all streams are made and changed in `heap` (NULL: the C library's); returns
 * what was in use. */
struct leat_heap *leat_heap_use(struct leat_heap *heap);

/* Bytes it takes to keep the heap as it is now; keep it at `to`; put it back. */
size_t leat_heap_used(const struct leat_heap *heap);
void leat_heap_keep(const struct leat_heap *heap, void *to);
void leat_heap_put_back(struct leat_heap *heap, const void *from);

/* Forget all that is in it. */
void leat_heap_clear(struct leat_heap *heap);

#endif
