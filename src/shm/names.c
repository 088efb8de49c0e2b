#include "shm/names.h"
#include "base/hash.h"

#include <string.h>

/* So many places are looked at. */
enum { PROBES = 4 };

/* A place has the slot of the file, and above it some of the name's hash. The names themselves are
 * in the order of the slots, so that those of many files take few pages: the first touch of one
 * costs more than all the rest, in each process. */
enum { SLOT_BITS = 20 };
_Static_assert(LEAT_SHM_MAX_FILES == 1u << SLOT_BITS, "the rest of a place is of the hash");

static uint64_t hash_of(const char *name, size_t length)
{
	return leat_hash(name, length, 0) * LEAT_HASH_PRIME;
}

static uint32_t place_of(uint64_t hash, unsigned probe)
{
	return (uint32_t)((hash >> 32) + probe) % LEAT_SHM_MAX_PLACES;
}

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 8) << SLOT_BITS;
}

/* Does the place lead to a name with that tag? */
static bool leads(uint32_t place, uint32_t tag)
{
	return place % LEAT_SHM_MAX_FILES && (place ^ tag) < LEAT_SHM_MAX_FILES;
}

static struct leat_shm_name *name_at(struct leat_shm *shm, uint32_t slot)
{
	return &shm->names[slot % LEAT_SHM_MAX_NAMES];
}

static bool holds(const struct leat_shm_name *n, const char *name, size_t length)
{
	return n->length == length && memcmp(n->text, name, length) == 0;
}

/* Does the place, number `at`, lead to a name that is gone, or was changed since? */
static bool is_stale(struct leat_shm *shm, uint32_t at)
{
	uint32_t place = atomic_load_explicit(&shm->places[at], memory_order_relaxed);
	uint32_t slot = place % LEAT_SHM_MAX_FILES;
	const struct leat_shm_name *n = name_at(shm, slot);

	return !slot || n->slot != slot || n->place != at ||
	       leat_shm_file_changes(&shm->files[slot]) != n->changes;
}

/* The place of the name. */
static uint32_t choose(struct leat_shm *shm, const char *name, size_t length)
{
	uint64_t hash = hash_of(name, length);
	uint32_t stale = LEAT_SHM_MAX_PLACES;

	for (unsigned i = 0; i < PROBES; i++) {
		uint32_t at = place_of(hash, i);
		uint32_t place = atomic_load_explicit(&shm->places[at], memory_order_relaxed);

		if (leads(place, tag_of(hash)) && holds(name_at(shm, place), name, length))
			return at;
		if (stale == LEAT_SHM_MAX_PLACES && is_stale(shm, at))
			stale = at;
	}
	return stale < LEAT_SHM_MAX_PLACES ? stale : place_of(hash, 0);
}

/* Odd while it is written. Readers copy, and throw the copy away if the number has changed. */
void leat_shm_name_put(struct leat_shm *shm, const char *name, const struct leat_shm_fact *fact)
{
	size_t length = strlen(name);
	struct leat_shm_name *n = name_at(shm, fact->slot);
	uint32_t at, sequence;

	if (!length || length > sizeof(n->text))
		return;
	at = choose(shm, name, length);
	sequence = atomic_load_explicit(&n->sequence, memory_order_relaxed) & ~1u;
	atomic_store_explicit(&n->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	n->common = fact->common;
	n->consumers = fact->consumers;
	n->changes = fact->changes;
	n->slot = fact->slot;
	n->place = at;
	n->length = (uint32_t)length;
	memcpy(n->text, name, length);
	atomic_store_explicit(&n->sequence, sequence + 2, memory_order_release);
	atomic_store_explicit(&shm->places[at],
			      tag_of(hash_of(name, length)) | fact->slot % LEAT_SHM_MAX_FILES,
			      memory_order_release);
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
	uint64_t hash;

	if (!length || length > sizeof(shm->names[0].text))
		return false;
	hash = hash_of(name, length);
	for (unsigned i = 0; i < PROBES; i++) {
		uint32_t place =
			atomic_load_explicit(&shm->places[place_of(hash, i)], memory_order_acquire);

		if (leads(place, tag_of(hash)) && copy(name_at(shm, place), name, length, fact))
			return true;
	}
	return false;
}
