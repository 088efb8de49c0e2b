/* The chunks of a tape: recording into them, and taking from them. */
#include "shm/tape.h"
#include "shm/tape_private.h"

#define HEAD sizeof(struct leat_tape_chunk)

static char *first_chunk(const struct leat_tape *tape)
{
	const size_t before = (sizeof(*tape) + LEAT_TAPE_CHUNK - 1) / LEAT_TAPE_CHUNK;

	return (char *)(uintptr_t)tape + before * LEAT_TAPE_CHUNK;
}

static struct leat_tape_chunk *chunk_at(const struct leat_tape *tape, uint32_t i)
{
	return (struct leat_tape_chunk *)(void *)(first_chunk(tape) + (size_t)i * LEAT_TAPE_CHUNK);
}

/* --- recording --- */

/* A new chunk, claimed, or LEAT_TAPE_NONE. */
static uint32_t chunk_new(struct leat_tape *tape, uint32_t process)
{
	uint32_t i = leat_tape_take_free(&tape->free_chunks, tape->n_chunks);
	struct leat_tape_chunk *c;

	if (i == LEAT_TAPE_NONE)
		return i;
	c = chunk_at(tape, i);
	(void)atomic_load(&c->used); /* see claim */
	atomic_store(&c->busy, process + 1);
	atomic_store(&c->process, process);
	atomic_store(&c->used, HEAD);
	return i;
}

static void chunk_free(struct leat_tape *tape, uint32_t i)
{
	struct leat_tape_chunk *c = chunk_at(tape, i);

	atomic_store(&c->used, 0);
	atomic_store(&c->process, LEAT_TAPE_NONE);
	atomic_store(&c->busy, 0);
	leat_tape_give_back(&tape->free_chunks, i);
}

/* Who takes chunks away, in the place of a process. */
#define TRACER (LEAT_TAPE_NONE - 1)

static bool claim(struct leat_tape_chunk *c, uint32_t process)
{
	uint32_t no = 0;

	/* Where this page is not mapped yet, a read maps those around it as well; a write does not.
	 */
	if (atomic_load_explicit(&c->busy, memory_order_relaxed))
		return false;
	/* Also a fence: what is stamped from now on is later than all that who still saw the
	 * chunk idle has seen before. Pairs with leat_tape_look. */
	return atomic_compare_exchange_strong(&c->busy, &no, process + 1);
}

static void let_go(struct leat_tape_chunk *c)
{
	atomic_store_explicit(&c->busy, 0, memory_order_release);
}

/* Puts a new chunk into a lane that held `old` (chunk + 1; 0: none). The chunk, claimed, or NULL:
 * there is none, or somebody else was faster. */
static struct leat_tape_chunk *refill(struct leat_tape *tape, uint32_t process,
				      _Atomic uint32_t *lane, uint32_t old)
{
	uint32_t i = chunk_new(tape, process);

	if (i == LEAT_TAPE_NONE)
		return NULL;
	if (atomic_compare_exchange_strong(lane, &old, i + 1))
		return chunk_at(tape, i);
	chunk_free(tape, i);
	return NULL;
}

/* The lane's chunk with room for `size` bytes, claimed, or NULL. */
static struct leat_tape_chunk *enter_lane(struct leat_tape *tape, uint32_t process, uint32_t l,
					  size_t size)
{
	_Atomic uint32_t *lane = &tape->processes[process].lane[l];
	uint32_t i = atomic_load(lane);
	struct leat_tape_chunk *c, *fresh;

	if (!i || i > tape->n_chunks)
		return refill(tape, process, lane, i);
	c = chunk_at(tape, i - 1);
	if (!claim(c, process))
		return NULL;
	if (atomic_load(lane) != i) { /* it was taken away meanwhile */
		let_go(c);
		return NULL;
	}
	if (atomic_load_explicit(&c->used, memory_order_relaxed) + size <= LEAT_TAPE_CHUNK)
		return c;
	fresh = refill(tape, process, lane, i);
	let_go(c);
	return fresh;
}

struct leat_tape_record *leat_tape_begin(struct leat_tape *tape, uint32_t process, size_t size,
					 uint32_t *hint)
{
	if (size > LEAT_TAPE_CHUNK - HEAD)
		return NULL;
	for (uint32_t i = 0; i < LEAT_TAPE_LANES; i++) {
		uint32_t l = (*hint + i) % LEAT_TAPE_LANES;
		struct leat_tape_chunk *c = enter_lane(tape, process, l, size);
		uint64_t used;

		if (!c)
			continue;
		*hint = l;
		used = atomic_load_explicit(&c->used, memory_order_relaxed);
		return (struct leat_tape_record *)(void *)((char *)c + used);
	}
	return NULL;
}

void leat_tape_end(struct leat_tape *tape, struct leat_tape_record *record)
{
	size_t i = (size_t)((char *)record - first_chunk(tape)) / LEAT_TAPE_CHUNK;
	struct leat_tape_chunk *c = chunk_at(tape, (uint32_t)i);
	uint64_t used = atomic_load_explicit(&c->used, memory_order_relaxed);

	/* pairs with leat_tape_look */
	atomic_store_explicit(&c->used, used + record->size, memory_order_release);
	let_go(c);
}

/* --- taking --- */

struct leat_tape_view leat_tape_look(const struct leat_tape *tape, uint32_t chunk)
{
	const struct leat_tape_chunk *c = chunk_at(tape, chunk);
	struct leat_tape_view v = {.data = (const char *)c};

	/* First whether it is idle: what it has then is all that was stamped before. */
	v.busy = atomic_load(&c->busy) != 0;
	v.used = atomic_load_explicit(&c->used, memory_order_acquire);
	v.process = atomic_load(&c->process);
	if (v.used > LEAT_TAPE_CHUNK)
		v.used = LEAT_TAPE_CHUNK;
	return v;
}

static _Atomic uint32_t *lane_of(struct leat_tape *tape, uint32_t process, uint32_t chunk)
{
	for (uint32_t l = 0; process < LEAT_TAPE_PROCESSES && l < LEAT_TAPE_LANES; l++)
		if (atomic_load(&tape->processes[process].lane[l]) == chunk + 1)
			return &tape->processes[process].lane[l];
	return NULL;
}

bool leat_tape_reclaim(struct leat_tape *tape, uint32_t chunk, uint64_t taken, bool gone,
		       bool spare)
{
	struct leat_tape_chunk *c = chunk_at(tape, chunk);
	uint32_t index = chunk + 1;
	_Atomic uint32_t *lane = lane_of(tape, atomic_load(&c->process), chunk);

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
	chunk_free(tape, chunk);
	return true;
}

uint32_t leat_tape_chunk_next(const struct leat_tape *tape, uint32_t from)
{
	return leat_tape_next_taken(&tape->free_chunks, from, tape->n_chunks);
}

uint32_t leat_tape_free_chunks(const struct leat_tape *tape)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < (tape->n_chunks + 63) / 64; w++)
		n += (uint32_t)__builtin_popcountll(atomic_load(&tape->free_chunks.word[w]));
	return n;
}

/* What threads claimed that the exec ended. A chunk that was in a lane a moment ago may be another
 * process' by now, or the tracer's: their claims are none of ours. */
void leat_tape_process_restart(struct leat_tape *tape, uint32_t process)
{
	struct leat_tape_process *p = &tape->processes[process];

	for (uint32_t l = 0; l < LEAT_TAPE_LANES; l++) {
		uint32_t i = atomic_load(&p->lane[l]), ours = process + 1;

		if (i && i <= tape->n_chunks)
			atomic_compare_exchange_strong(&chunk_at(tape, i - 1)->busy, &ours, 0);
	}
	atomic_store(&p->state, LEAT_TAPE_LIVE);
}
