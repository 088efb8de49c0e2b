#include "shm/extents.h"

#include <errno.h>

/* A reader that meets a change so often asks the daemon. */
#define TRIES 100

uint32_t leat_shm_extents_take(struct leat_shm *shm, uint32_t slot)
{
	for (uint32_t i = 0; i < LEAT_SHM_MAX_TABLES; i++) {
		struct leat_shm_table *t = &shm->tables[i];

		if (atomic_load_explicit(&t->slot, memory_order_relaxed))
			continue;
		atomic_store(&t->slot, slot);
		atomic_store(&shm->files[slot].table, i + 1);
		return i + 1;
	}
	return 0;
}

void leat_shm_extents_give(struct leat_shm *shm, uint32_t table)
{
	struct leat_shm_table *t = &shm->tables[table - 1];
	uint32_t slot = atomic_load(&t->slot);

	atomic_fetch_add(&t->sequence, 1);
	atomic_thread_fence(memory_order_release);
	if (slot < LEAT_SHM_MAX_FILES)
		atomic_store(&shm->files[slot].table, 0);
	atomic_store_explicit(&t->count, 0, memory_order_relaxed);
	atomic_store_explicit(&t->slot, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&t->sequence, 1, memory_order_release);
}

void leat_shm_extents_put(struct leat_shm *shm, uint32_t table, const struct leat_range *ranges,
			  size_t n, const struct leat_range *changed)
{
	struct leat_shm_table *t = &shm->tables[table - 1];
	uint32_t slot = atomic_load(&t->slot);

	atomic_fetch_add(&t->sequence, 1);
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < n && i < LEAT_SHM_MAX_RANGES; i++) {
		atomic_store_explicit(&t->ranges[i].begin, ranges[i].begin, memory_order_relaxed);
		atomic_store_explicit(&t->ranges[i].end, ranges[i].end, memory_order_relaxed);
	}
	atomic_store_explicit(&t->count,
			      n < LEAT_SHM_MAX_RANGES ? (uint32_t)n : LEAT_SHM_MAX_RANGES + 1,
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&t->sequence, 1, memory_order_release);
	if (slot < LEAT_SHM_MAX_FILES)
		leat_shm_wake_range(&shm->files[slot], changed);
}

/* The first range that ends after `at`; as leat_shm_extent. What it reads may change meanwhile. */
static int search(const struct leat_shm_table *t, uint64_t at, struct leat_range *found)
{
	uint32_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
	uint32_t low = 0, high = count < LEAT_SHM_MAX_RANGES ? count : LEAT_SHM_MAX_RANGES;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (atomic_load_explicit(&t->ranges[middle].end, memory_order_relaxed) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= LEAT_SHM_MAX_RANGES || low >= count)
		return count > LEAT_SHM_MAX_RANGES ? -EAGAIN : 0;
	found->begin = atomic_load_explicit(&t->ranges[low].begin, memory_order_relaxed);
	found->end = atomic_load_explicit(&t->ranges[low].end, memory_order_relaxed);
	return 1;
}

static int look_up(struct leat_shm *shm, struct leat_shm_file *f, uint64_t at,
		   struct leat_range *found)
{
	uint32_t table = atomic_load(&f->table);
	const struct leat_shm_table *t;

	if (!table || table > LEAT_SHM_MAX_TABLES)
		return -EAGAIN;
	t = &shm->tables[table - 1];
	for (int i = 0; i < TRIES; i++) {
		uint32_t sequence = atomic_load_explicit(&t->sequence, memory_order_acquire);
		uint32_t slot = atomic_load_explicit(&t->slot, memory_order_relaxed);
		int rc = sequence % 2 ? -EAGAIN : search(t, at, found);

		atomic_thread_fence(memory_order_acquire);
		if (sequence % 2 ||
		    atomic_load_explicit(&t->sequence, memory_order_relaxed) != sequence)
			continue;
		return slot == (uint32_t)(f - shm->files) ? rc : -EAGAIN;
	}
	return -EAGAIN;
}

int leat_shm_extent(struct leat_shm *shm, struct leat_shm_file *f, uint64_t at,
		    struct leat_range *found)
{
	uint64_t frontier = leat_shm_frontier(f);
	int rc = 0;

	if (leat_shm_flags(f) & LEAT_SHM_EXTENTS)
		rc = look_up(shm, f, at > frontier ? at : frontier, found);
	/* The frontier may have moved since the table was written. */
	if (rc == 1 && found->begin <= frontier) {
		found->begin = 0;
	} else if (at < frontier) {
		*found = (struct leat_range){0, frontier};
		rc = 1;
	}
	return rc;
}

bool leat_shm_consumed_part(struct leat_shm *shm, struct leat_shm_file *f, struct leat_range asked,
			    struct leat_range *part)
{
	struct leat_range written;

	for (uint64_t at = asked.begin; at < asked.end; at = written.end) {
		if (leat_shm_extent(shm, f, at, &written) != 1 || written.begin >= asked.end)
			return false;
		part->begin = written.begin > at ? written.begin : at;
		part->end = written.end < asked.end ? written.end : asked.end;
		if (leat_shm_was_consumed(f, part->begin, part->end - part->begin))
			return true;
	}
	return false;
}

void leat_shm_about_to_read(struct leat_shm_file *f, uint64_t offset, uint64_t length)
{
	uint64_t there = leat_shm_frontier(f);

	if (leat_shm_flags(f) & LEAT_SHM_EXTENTS) /* all of it is there, or nobody would read */
		there = UINT64_MAX;
	if (offset >= there)
		return;
	length = length < there - offset ? length : there - offset;
	leat_shm_consumed(f, offset, length);
	leat_shm_await_rewrite(f, (struct leat_range){offset, leat_range_end(offset, length)});
}

/* The flags first: a file that was final before has all its bytes. */
int leat_shm_look(struct leat_shm *shm, struct leat_shm_file *f, uint64_t offset, uint64_t length)
{
	uint32_t flags = leat_shm_flags(f);
	struct leat_range found;
	uint64_t end;
	int rc;

	if (flags & LEAT_SHM_FAILED)
		return -EIO;
	if (flags & LEAT_SHM_COMMITTED)
		return LEAT_SHM_FINAL;
	end = leat_range_end(offset, length);
	if (leat_shm_frontier(f) >= end)
		return LEAT_SHM_THERE;
	if (!(flags & LEAT_SHM_EXTENTS))
		return LEAT_SHM_NOT_YET;
	rc = leat_shm_extent(shm, f, offset, &found);
	if (rc < 0)
		return LEAT_SHM_ASK;
	return rc && found.begin <= offset && found.end >= end ? LEAT_SHM_THERE : LEAT_SHM_NOT_YET;
}
