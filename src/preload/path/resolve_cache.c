#include "preload/path/resolve_cache.h"

#include "base/hash.h"
#include "preload/connection/client.h"
#include "shm/names.h"
#include "shm/state.h"
#include "shm/word.h"

#include <string.h>

/* Names beyond these are asked for again: they take the place of others. Untouched entries take
 * no memory. */
#define ENTRIES 8192u
#define MAX_NAME 120u

struct entry {
	struct leat_word sequence;
	struct leat_resolve_cached known;
	uint32_t length; /* of the name; 0: empty */
	bool has_stat;
	char name[MAX_NAME];
	struct stat st;
};

static struct entry entries[ENTRIES];

static struct entry *entry_of(const char *below, size_t length)
{
	return &entries[leat_hash(below, length, 0) % ENTRIES];
}

/* Without vector registers, and the library's memcpy costs as much as all the rest. */
static inline void copy_stat(struct stat *to, const struct stat *from)
{
	const uint64_t *source = (const uint64_t *)from;
	uint64_t *target = (uint64_t *)to;

	_Static_assert(sizeof(*to) % sizeof(*target) == 0, "whole words");
	for (size_t i = 0; i < sizeof(*to) / sizeof(*target); i++)
		target[i] = source[i];
}

/* Added to the common counter: what was remembered before it moved is no more. */
static struct leat_word epoch;

uint64_t leat_resolve_cache_common(void)
{
	const struct leat_server_info *w = leat_server_known();

	return w ? leat_shm_changes(w->shm) + leat_word_get(&epoch) : 0;
}

void leat_resolve_cache_forget(void)
{
	leat_word_add(&epoch, UINT64_C(1) << 48);
}

void leat_resolve_cache_changing(void)
{
	const struct leat_server_info *w = leat_server_known();

	if (w)
		leat_shm_change_begin(w->shm);
}

void leat_resolve_cache_changed(void)
{
	const struct leat_server_info *w = leat_server_known();

	if (w)
		leat_shm_change_end(w->shm);
}

static bool holds(const struct leat_resolve_cached *known)
{
	const struct leat_shm_file *f = leat_client_file(known->slot);

	return f && leat_shm_file_changes(f) == known->changes &&
	       leat_resolve_cache_common() == known->common;
}

/* What a consumer does without asking is to be known if somebody changes the file, or removes it.
 */
static void note_use(const struct leat_resolve_cached *known, struct leat_shm_file *f, bool looks)
{
	const struct leat_server_info *w = leat_server_known();

	if (known->input && w && w->step >= 0)
		leat_shm_see(f, w->step, looks);
}

/* What the daemon publishes of committed files. */
static bool find_published(const char *below, size_t length, bool looks,
			   struct leat_resolve_cached *known)
{
	const struct leat_server_info *w = leat_server_known();
	struct leat_shm_fact fact;
	struct leat_shm_file *f;

	if (!w || w->step < 0 || w->step >= LEAT_SHM_NAME_STEPS ||
	    !leat_shm_name_find(w->shm, below, length, &fact))
		return false;
	*known = (struct leat_resolve_cached){.common = fact.common,
					      .changes = fact.changes,
					      .slot = fact.slot,
					      .input = fact.consumers >> w->step & 1};
	if (w->shm->enforced && !known->input)
		return false; /* the daemon is to say whether this step may */
	f = leat_client_file(known->slot);
	if (!f ||
	    (leat_shm_flags(f) & (LEAT_SHM_COMMITTED | LEAT_SHM_FAILED)) != LEAT_SHM_COMMITTED)
		return false;
	note_use(known, f, looks);
	return holds(known);
}

static bool find_own(const char *below, size_t length, struct leat_resolve_cached *known,
		     struct stat *st)
{
	const struct entry *e = entry_of(below, length);
	uint64_t sequence = leat_word_get(&e->sequence);

	if (sequence % 2 || e->length != length || !length || (st && !e->has_stat) ||
	    memcmp(e->name, below, length) != 0)
		return false;
	*known = e->known;
	if (st)
		copy_stat(st, &e->st);
	return leat_word_still(&e->sequence, sequence) && holds(known);
}

bool leat_resolve_cache_find(const char *below, size_t length, bool looks,
			     struct leat_resolve_cached *known, struct stat *st)
{
	if (!find_own(below, length, known, st))
		return !st && find_published(below, length, looks, known);
	/* It was opened before; what stat shows is remembered of who has looked. */
	if (!looks || st)
		return true;
	note_use(known, leat_client_file(known->slot), looks);
	return holds(known);
}

void leat_resolve_cache_put(const char *below, size_t length,
			    const struct leat_resolve_cached *known, const struct stat *st)
{
	struct entry *e = entry_of(below, length);
	uint64_t sequence = leat_word_get(&e->sequence);

	if (!known->common || !length || length > MAX_NAME || sequence % 2 ||
	    !leat_word_write_begin(&e->sequence, sequence))
		return;
	e->known = *known;
	e->length = (uint32_t)length;
	memcpy(e->name, below, length);
	e->has_stat = st;
	if (st)
		copy_stat(&e->st, st);
	leat_word_set(&e->sequence, sequence + 2);
}
