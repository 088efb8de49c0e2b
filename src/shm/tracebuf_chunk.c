/* The chunks of a trace buffer: recording into them, and taking from them. */
#include "shm/tracebuf.h"
#include "shm/tracebuf_private.h"

#define HEAD sizeof(struct leat_tracebuf_chunk)

static char *first_chunk(const struct leat_tracebuf *tracebuf)
{
	const size_t before = (sizeof(*tracebuf) + LEAT_TRACEBUF_CHUNK - 1) / LEAT_TRACEBUF_CHUNK;

	return (char *)(uintptr_t)tracebuf + before * LEAT_TRACEBUF_CHUNK;
}

static struct leat_tracebuf_chunk *chunk_at(const struct leat_tracebuf *tracebuf, uint32_t i)
{
	return (struct leat_tracebuf_chunk *)(void *)(first_chunk(tracebuf) +
						      (size_t)i * LEAT_TRACEBUF_CHUNK);
}

/* --- recording --- */

/* A new chunk, claimed, or LEAT_TRACEBUF_NONE. */
static uint32_t chunk_new(struct leat_tracebuf *tracebuf, uint32_t process)
{
	uint32_t i = leat_tracebuf_take_free(&tracebuf->free_chunks, tracebuf->n_chunks);
	struct leat_tracebuf_chunk *c;

	if (i == LEAT_TRACEBUF_NONE)
		return i;
	c = chunk_at(tracebuf, i);
	(void)atomic_load(&c->used); /* see claim */
	atomic_store(&c->busy, process + 1);
	atomic_store(&c->process, process);
	atomic_store(&c->used, HEAD);
	return i;
}

static void chunk_free(struct leat_tracebuf *tracebuf, uint32_t i)
{
	struct leat_tracebuf_chunk *c = chunk_at(tracebuf, i);

	atomic_store(&c->used, 0);
	atomic_store(&c->process, LEAT_TRACEBUF_NONE);
	atomic_store(&c->busy, 0);
	leat_tracebuf_give_back(&tracebuf->free_chunks, i);
}

/* Who takes chunks away, in the place of a process. */
#define TRACER (LEAT_TRACEBUF_NONE - 1)

static bool claim(struct leat_tracebuf_chunk *c, uint32_t process)
{
	uint32_t no = 0;

	/* Where this page is not mapped yet, a read maps those around it as well; a write does not.
	 */
	if (atomic_load_explicit(&c->busy, memory_order_relaxed))
		return false;
	/* Also a fence: what is stamped from now on is later than all that who still saw the
	 * chunk idle has seen before. Pairs with leat_tracebuf_look. */
	return atomic_compare_exchange_strong(&c->busy, &no, process + 1);
}

static void let_go(struct leat_tracebuf_chunk *c)
{
	atomic_store_explicit(&c->busy, 0, memory_order_release);
}

/* Puts a new chunk into a lane that held `old` (chunk + 1; 0: none). The chunk, claimed, or NULL:
 * there is none, or somebody else was faster. */
static struct leat_tracebuf_chunk *refill(struct leat_tracebuf *tracebuf, uint32_t process,
					  _Atomic uint32_t *lane, uint32_t old)
{
	uint32_t i = chunk_new(tracebuf, process);

	if (i == LEAT_TRACEBUF_NONE)
		return NULL;
	if (atomic_compare_exchange_strong(lane, &old, i + 1))
		return chunk_at(tracebuf, i);
	chunk_free(tracebuf, i);
	return NULL;
}

/* The lane's chunk with space for `size` bytes, claimed, or NULL. */
static struct leat_tracebuf_chunk *enter_lane(struct leat_tracebuf *tracebuf, uint32_t process,
					      uint32_t l, size_t size)
{
	_Atomic uint32_t *lane = &tracebuf->processes[process].lane[l];
	uint32_t i = atomic_load(lane);
	struct leat_tracebuf_chunk *c, *fresh;

	if (!i || i > tracebuf->n_chunks)
		return refill(tracebuf, process, lane, i);
	c = chunk_at(tracebuf, i - 1);
	if (!claim(c, process))
		return NULL;
	if (atomic_load(lane) != i) { /* it was taken away meanwhile */
		let_go(c);
		return NULL;
	}
	if (atomic_load_explicit(&c->used, memory_order_relaxed) + size <= LEAT_TRACEBUF_CHUNK)
		return c;
	fresh = refill(tracebuf, process, lane, i);
	let_go(c);
	return fresh;
}

struct leat_tracebuf_record *leat_tracebuf_begin(struct leat_tracebuf *tracebuf, uint32_t process,
						 size_t size, uint32_t *hint)
{
	if (size > LEAT_TRACEBUF_CHUNK - HEAD)
		return NULL;
	for (uint32_t i = 0; i < LEAT_TRACEBUF_LANES; i++) {
		uint32_t l = (*hint + i) % LEAT_TRACEBUF_LANES;
		struct leat_tracebuf_chunk *c = enter_lane(tracebuf, process, l, size);
		uint64_t used;

		if (!c)
			continue;
		*hint = l;
		used = atomic_load_explicit(&c->used, memory_order_relaxed);
		return (struct leat_tracebuf_record *)(void *)((char *)c + used);
	}
	return NULL;
}

void leat_tracebuf_end(struct leat_tracebuf *tracebuf, struct leat_tracebuf_record *record)
{
	size_t i = (size_t)((char *)record - first_chunk(tracebuf)) / LEAT_TRACEBUF_CHUNK;
	struct leat_tracebuf_chunk *c = chunk_at(tracebuf, (uint32_t)i);
	uint64_t used = atomic_load_explicit(&c->used, memory_order_relaxed);

	/* pairs with leat_tracebuf_look */
	atomic_store_explicit(&c->used, used + record->size, memory_order_release);
	let_go(c);
}

/* --- taking --- */

struct leat_tracebuf_view leat_tracebuf_look(const struct leat_tracebuf *tracebuf, uint32_t chunk)
{
	const struct leat_tracebuf_chunk *c = chunk_at(tracebuf, chunk);
	struct leat_tracebuf_view v = {.data = (const char *)c};

	/* First whether it is idle: what it has then is all that was stamped before. */
	v.busy = atomic_load(&c->busy) != 0;
	v.used = atomic_load_explicit(&c->used, memory_order_acquire);
	v.process = atomic_load(&c->process);
	if (v.used > LEAT_TRACEBUF_CHUNK)
		v.used = LEAT_TRACEBUF_CHUNK;
	return v;
}

static _Atomic uint32_t *lane_of(struct leat_tracebuf *tracebuf, uint32_t process, uint32_t chunk)
{
	for (uint32_t l = 0; process < LEAT_TRACEBUF_PROCESSES && l < LEAT_TRACEBUF_LANES; l++)
		if (atomic_load(&tracebuf->processes[process].lane[l]) == chunk + 1)
			return &tracebuf->processes[process].lane[l];
	return NULL;
}

bool leat_tracebuf_reclaim(struct leat_tracebuf *tracebuf, uint32_t chunk, uint64_t taken,
			   bool gone, bool spare)
{
	struct leat_tracebuf_chunk *c = chunk_at(tracebuf, chunk);
	uint32_t index = chunk + 1;
	_Atomic uint32_t *lane = lane_of(tracebuf, atomic_load(&c->process), chunk);

	if (!gone && lane && !spare)
		return false;
	if (!gone && !claim(c, TRACER))
		return false;
	if (!gone && atomic_load(&c->used) != taken) {
		let_go(c);
		return false;
	}
	if (lane)
		atomic_compare_exchange_strong(lane, &index, 0);
	chunk_free(tracebuf, chunk);
	return true;
}

uint32_t leat_tracebuf_chunk_next(const struct leat_tracebuf *tracebuf, uint32_t from)
{
	return leat_tracebuf_next_taken(&tracebuf->free_chunks, from, tracebuf->n_chunks);
}

uint32_t leat_tracebuf_free_chunks(const struct leat_tracebuf *tracebuf)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < (tracebuf->n_chunks + 63) / 64; w++)
		n += (uint32_t)__builtin_popcountll(atomic_load(&tracebuf->free_chunks.word[w]));
	return n;
}

/* What threads claimed that the exec ended. A chunk that was in a lane a moment ago may be another
 * process' by now, or the tracer's: their claims are none of ours. */
void leat_tracebuf_process_restart(struct leat_tracebuf *tracebuf, uint32_t process)
{
	struct leat_tracebuf_process *p = &tracebuf->processes[process];

	for (uint32_t l = 0; l < LEAT_TRACEBUF_LANES; l++) {
		uint32_t i = atomic_load(&p->lane[l]), ours = process + 1;

		if (i && i <= tracebuf->n_chunks)
			atomic_compare_exchange_strong(&chunk_at(tracebuf, i - 1)->busy, &ours, 0);
	}
	atomic_store(&p->state, LEAT_TRACEBUF_LIVE);
}
