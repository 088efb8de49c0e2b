#include "shm/ctimes.h"

#include "base/hash.h"

/* An inode may be in so many places, a set. Those of files that are made one after the other mostly
 * have numbers one after the other: their sets are in one page. */
enum { WAYS = 4, PAGE_SETS = 16, PAGE_BITS = 12 };
enum { NOT_HELD, HELD, HELD_WITH_MTIME };
#define NS_PER_S INT64_C(1000000000)

_Static_assert(LEAT_SHM_MAX_CTIMES == WAYS * PAGE_SETS << PAGE_BITS, "pages are whole");

/* Wraps: only to be compared. */
static uint64_t nanoseconds(struct timespec t)
{
	return (uint64_t)t.tv_sec * (uint64_t)NS_PER_S + (uint64_t)t.tv_nsec;
}

static struct timespec of_nanoseconds(int64_t ns)
{
	int64_t seconds = ns / NS_PER_S - (ns % NS_PER_S < 0);

	return (struct timespec){.tv_sec = seconds, .tv_nsec = ns - seconds * NS_PER_S};
}

/* From 1678 to 2261. */
static bool is_in_range(struct timespec t)
{
	return t.tv_sec > INT64_MIN / NS_PER_S && t.tv_sec < INT64_MAX / NS_PER_S;
}

/* The first place of its set. Multiplying so spreads numbers that follow each other evenly (Knuth,
 * The Art of Computer Programming, 6.4). */
static uint64_t set_of(const struct leat_shm_inode *i)
{
	uint64_t page = (i->inode / PAGE_SETS + i->device * 31) * LEAT_HASH_PRIME;

	return (page >> (64 - PAGE_BITS)) * PAGE_SETS * WAYS + i->inode % PAGE_SETS * WAYS;
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static bool is_of(const struct leat_shm_ctime *e, const struct leat_shm_inode *i)
{
	return get(&e->inode) == i->inode && get(&e->device) == i->device;
}

/* ---- daemon ---- */

static struct leat_shm_ctime *find(struct leat_shm *shm, const struct leat_shm_inode *i)
{
	struct leat_shm_ctime *way = &shm->ctimes[set_of(i)];

	for (unsigned n = 0; n < WAYS; n++)
		if (is_of(&way[n], i))
			return &way[n];
	return NULL;
}

/* A free one, or that of the inode that was noted the longest time ago. */
static struct leat_shm_ctime *choose(struct leat_shm *shm, const struct leat_shm_inode *i)
{
	struct leat_shm_ctime *way = &shm->ctimes[set_of(i)], *oldest = way;

	for (unsigned n = 1; n < WAYS; n++)
		if (get(&way[n].age) < get(&oldest->age))
			oldest = &way[n];
	return oldest;
}

/* Whoever meets it half written takes the inode as it is. That is right, since it is not changed
 * yet, and no entry says that it is shown otherwise: else only `held` is changed. */
static void write_held(struct leat_shm_ctime *e, const struct leat_shm_inode *i, int64_t shown,
		       uint32_t held)
{
	uint32_t sequence = atomic_load_explicit(&e->sequence, memory_order_relaxed) & ~1u;

	atomic_store_explicit(&e->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	set(&e->device, i->device);
	set(&e->inode, i->inode);
	set(&e->mtime, nanoseconds(i->mtime));
	atomic_store_explicit(&e->shown, shown, memory_order_relaxed);
	atomic_store_explicit(&e->held, held, memory_order_relaxed);
	atomic_store_explicit(&e->sequence, sequence + 2, memory_order_release);
}

/* Counted first: whoever finds what was changed, and has looked at the inode before, knows by the
 * counter that the inode may have changed, too. */
static uint64_t count(struct leat_shm *shm)
{
	return atomic_fetch_add(&shm->ctimes_changes, 1) + 1;
}

void leat_shm_ctime_hold(struct leat_shm *shm, const struct leat_shm_inode *i,
			 struct timespec shown, bool mtime)
{
	uint32_t held = mtime && is_in_range(i->mtime) ? HELD_WITH_MTIME : HELD;
	int64_t ns = (int64_t)nanoseconds(shown);
	struct leat_shm_ctime *e = find(shm, i);
	uint64_t age;

	if (!is_in_range(shown))
		return;
	age = count(shm);
	if (e && atomic_load_explicit(&e->shown, memory_order_relaxed) == ns) {
		/* Either what it has there, or that says nothing of an inode that has another. */
		set(&e->mtime, nanoseconds(i->mtime));
		atomic_store_explicit(&e->held, held, memory_order_release);
	} else {
		e = e ? e : choose(shm, i);
		write_held(e, i, ns, held);
	}
	set(&e->age, age);
	/* Before the inode is changed. */
	atomic_thread_fence(memory_order_seq_cst);
}

void leat_shm_ctime_settle(struct leat_shm *shm, const struct leat_shm_inode *i)
{
	struct leat_shm_ctime *e = find(shm, i);

	if (!e)
		return;
	set(&e->age, count(shm));
	/* While it is held nobody looks at the ctime, and the mtime was put back. */
	set(&e->ctime, nanoseconds(i->ctime));
	set(&e->mtime, nanoseconds(i->mtime));
	atomic_store_explicit(&e->held, NOT_HELD, memory_order_release);
}

/* ---- whoever looks ---- */

enum look { NOT_THERE, SHOWN, OTHER_TIMES, IN_CHANGE };

static enum look look_at(const struct leat_shm_ctime *e, struct leat_shm_inode *i)
{
	uint32_t sequence = atomic_load_explicit(&e->sequence, memory_order_acquire);
	bool is_its = is_of(e, i);
	uint32_t held = atomic_load_explicit(&e->held, memory_order_acquire);
	uint64_t mtime = get(&e->mtime);
	bool is_same = get(&e->ctime) == nanoseconds(i->ctime) && mtime == nanoseconds(i->mtime);
	int64_t ns = atomic_load_explicit(&e->shown, memory_order_relaxed);

	atomic_thread_fence(memory_order_acquire);
	if (sequence % 2 || atomic_load_explicit(&e->sequence, memory_order_relaxed) != sequence)
		return IN_CHANGE;
	if (!is_its)
		return NOT_THERE;
	if (held == NOT_HELD && !is_same)
		return OTHER_TIMES;
	if (held == HELD_WITH_MTIME)
		i->mtime = of_nanoseconds((int64_t)mtime);
	i->ctime = of_nanoseconds(ns);
	return SHOWN;
}

bool leat_shm_ctime_find(const struct leat_shm *shm, uint64_t seen, struct leat_shm_inode *i)
{
	const struct leat_shm_ctime *way = &shm->ctimes[set_of(i)];
	bool is_sure = true;

	atomic_thread_fence(memory_order_acquire); /* after the look at the inode */
	for (unsigned n = 0; n < WAYS; n++) {
		enum look look = look_at(&way[n], i);

		if (look == SHOWN)
			return true;
		is_sure = is_sure && look == NOT_THERE;
	}
	return is_sure || leat_shm_ctimes_seen(shm) == seen;
}
