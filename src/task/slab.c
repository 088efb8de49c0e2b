#include "task/slab.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 64 * 1024 };

struct leat_slab_chunk {
	struct leat_slab_chunk *next; /* owned */
	alignas(max_align_t) char things[];
};

void leat_slab_init(struct leat_slab *slab, size_t size)
{
	size_t align = alignof(max_align_t);

	*slab = (struct leat_slab){.size = (size + align - 1) / align * align};
}

static int grow(struct leat_slab *slab)
{
	size_t count = CHUNK_BYTES / slab->size ? CHUNK_BYTES / slab->size : 1;
	struct leat_slab_chunk *chunk = malloc(sizeof(*chunk) + count * slab->size);

	if (!chunk)
		return -ENOMEM;
	chunk->next = slab->chunks;
	slab->chunks = chunk;
	while (count > 0)
		leat_slab_put(slab, chunk->things + --count * slab->size);
	return 0;
}

int leat_slab_reserve(struct leat_slab *slab, size_t n)
{
	while (slab->n_free < n)
		if (grow(slab) < 0)
			return -ENOMEM;
	return 0;
}

void *leat_slab_get(struct leat_slab *slab)
{
	void **thing;

	if (leat_slab_reserve(slab, 1) < 0)
		return NULL;
	thing = slab->free;
	slab->free = *thing;
	slab->n_free--;
	return thing;
}

void leat_slab_put(struct leat_slab *slab, void *thing)
{
	void **link = thing;

	if (!link)
		return;
	*link = slab->free;
	slab->free = link;
	slab->n_free++;
}

void leat_slab_release(struct leat_slab *slab)
{
	while (slab->chunks) {
		struct leat_slab_chunk *chunk = slab->chunks;

		slab->chunks = chunk->next;
		free(chunk);
	}
	leat_slab_init(slab, slab->size);
}
