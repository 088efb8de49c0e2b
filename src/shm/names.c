#include "shm/names.h"
#include "base/hash.h"

#include <string.h>

/* So many places are looked at. */
enum { PROBES = 4 };

static struct leat_shm_name *entry_at(struct leat_shm *shm, const char *name, size_t length,
				      unsigned probe)
{
	/* the high bits are the best mixed */
	uint64_t hash = leat_hash(name, length, 0) * LEAT_HASH_PRIME >> 32;

	return &shm->names[(hash + probe) % LEAT_SHM_MAX_NAMES];
}

static bool holds(const struct leat_shm_name *n, const char *name, size_t length)
{
	return n->length == length && memcmp(n->text, name, length) == 0;
}

/* Of a name that is gone, or was changed since. */
static bool is_stale(struct leat_shm *shm, const struct leat_shm_name *n)
{
	return !n->slot || n->slot >= LEAT_SHM_MAX_FILES ||
	       leat_shm_file_changes(&shm->files[n->slot]) != n->changes;
}

static struct leat_shm_name *choose(struct leat_shm *shm, const char *name, size_t length)
{
	struct leat_shm_name *stale = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct leat_shm_name *n = entry_at(shm, name, length, i);

		if (holds(n, name, length))
			return n;
		if (!stale && is_stale(shm, n))
			stale = n;
	}
	return stale ? stale : entry_at(shm, name, length, 0);
}

/* Odd while it is written. Readers copy, and throw the copy away if the number has changed. */
void leat_shm_name_put(struct leat_shm *shm, const char *name, const struct leat_shm_fact *fact)
{
	size_t length = strlen(name);
	struct leat_shm_name *n;
	uint32_t sequence;

	if (!length || length > sizeof(n->text))
		return;
	n = choose(shm, name, length);
	sequence = atomic_load_explicit(&n->sequence, memory_order_relaxed) & ~1u;
	atomic_store_explicit(&n->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	n->common = fact->common;
	n->consumers = fact->consumers;
	n->changes = fact->changes;
	n->slot = fact->slot;
	n->length = (uint32_t)length;
	memcpy(n->text, name, length);
	atomic_store_explicit(&n->sequence, sequence + 2, memory_order_release);
}

static bool copy(const struct leat_shm_name *n, const char *name, size_t length,
		 struct leat_shm_fact *fact)
{
	uint32_t sequence = atomic_load_explicit(&n->sequence, memory_order_acquire);

	if (sequence % 2 || !holds(n, name, length))
		return false;
	*fact = (struct leat_shm_fact){.common = n->common,
				       .consumers = n->consumers,
				       .changes = n->changes,
				       .slot = n->slot};
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&n->sequence, memory_order_relaxed) == sequence;
}

bool leat_shm_name_find(struct leat_shm *shm, const char *name, size_t length,
			struct leat_shm_fact *fact)
{
	if (!length || length > sizeof(shm->names[0].text))
		return false;
	for (unsigned i = 0; i < PROBES; i++)
		if (copy(entry_at(shm, name, length, i), name, length, fact))
			return true;
	return false;
}
