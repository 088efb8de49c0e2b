#include "shm/state.h"
#include "shm/window.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nobody waits for the frontier. */
#define NEVER UINT64_MAX

/* libc's syscall() sets errno; callers of this layer must not notice. */
static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout,
		  uint32_t groups)
{
	int saved = errno;
	long rc = syscall(SYS_futex, word, op, value, timeout, NULL, groups);

	if (rc < 0)
		rc = -errno;
	errno = saved;
	return rc;
}

/* The epoch first: who has looked at the kernel's size before sees that another one counts now. */
static void set_length(struct leat_shm_file *f, uint64_t length)
{
	atomic_fetch_add(&f->epoch, 1);
	atomic_store(&f->length, length);
}

void leat_shm_file_init(struct leat_shm_file *f)
{
	atomic_store(&f->window, LEAT_WINDOW_NONE);
	atomic_store(&f->dropped, 0);
	set_length(f, UINT64_MAX);
	atomic_store(&f->pending, 0);
	atomic_store(&f->writing, 0);
	atomic_store(&f->flags, 0);
	atomic_store(&f->frontier, 0);
	atomic_store(&f->size, 0);
	atomic_store(&f->generation, 0);
	atomic_store(&f->placing, 0);
	atomic_store(&f->read_lo, UINT64_MAX);
	atomic_store(&f->read_hi, 0);
	atomic_store(&f->table, 0);
	for (int i = 0; i < LEAT_SHM_REGIONS; i++)
		atomic_store(&f->rewriting[i], 0);
	/* Sleepers of the record's former life look again and find the new one. */
	leat_shm_file_update(f, 0, 0);
}

/* wake_at is reset before seq changes: who registers in between sees the new
 * seq and does not sleep; who registered before is woken and registers anew. */
static void wake_all(struct leat_shm_file *f)
{
	atomic_store(&f->wake_at, NEVER);
	atomic_fetch_add(&f->seq, 1);
	if (atomic_load(&f->waiters))
		futex(&f->seq, FUTEX_WAKE, INT_MAX, NULL, 0);
}

void leat_shm_file_update(struct leat_shm_file *f, uint32_t set, uint32_t clear)
{
	uint32_t old = atomic_load(&f->flags);

	while (!atomic_compare_exchange_weak(&f->flags, &old, (old | set) & ~clear))
		;
	wake_all(f);
}

/* Who waits for a part of a file belongs to groups by where it lies, and is not woken for other
 * parts: there may be many, each waiting for its own. */
#define GROUP_BYTES_LOG2 20

static uint32_t groups_of(const struct leat_range *range)
{
	uint64_t first = range->begin >> GROUP_BYTES_LOG2;
	uint64_t last = range->end ? (range->end - 1) >> GROUP_BYTES_LOG2 : 0;
	uint32_t groups = 0;

	if (last < first || last - first >= 31)
		return ~0u;
	for (uint64_t i = first; i <= last; i++)
		groups |= 1u << ((uint32_t)i * 0x9e3779b1u >> 27);
	return groups;
}

void leat_shm_wake_range(struct leat_shm_file *f, const struct leat_range *changed)
{
	atomic_fetch_add(&f->seq, 1);
	if (atomic_load(&f->waiters))
		futex(&f->seq, FUTEX_WAKE_BITSET, INT_MAX, NULL, groups_of(changed));
}

void leat_shm_set_generation(struct leat_shm_file *f, uint32_t generation)
{
	atomic_store(&f->generation, generation);
	atomic_thread_fence(memory_order_seq_cst);
}

void leat_shm_file_finish(struct leat_shm_file *f, uint64_t size)
{
	atomic_store(&f->size, size);
	leat_shm_file_update(f, LEAT_SHM_COMMITTED, 0);
}

/* Both count as a store even where the word has the value already, or a better one: what the caller
 * loads afterwards is not older than that. Who stores his word and loads the other's relies on it.
 * An exchange is a barrier by itself; a second one would be felt in each small write. */
static bool raise_to(_Atomic uint64_t *word, uint64_t value)
{
	uint64_t old = atomic_load(word);

	while (old < value)
		if (atomic_compare_exchange_weak(word, &old, value))
			return true;
	atomic_thread_fence(memory_order_seq_cst);
	return false;
}

static void lower_to(_Atomic uint64_t *word, uint64_t value)
{
	uint64_t old = atomic_load(word);

	while (old > value)
		if (atomic_compare_exchange_weak(word, &old, value))
			return;
	atomic_thread_fence(memory_order_seq_cst);
}

void leat_shm_shut(struct leat_shm *shm, uint32_t last_slot)
{
	atomic_store(&shm->daemon_alive, 0);
	leat_shm_changed(shm);
	for (uint32_t i = 1; i <= last_slot; i++)
		wake_all(&shm->files[i]);
}

bool leat_shm_alive(const struct leat_shm *shm)
{
	return atomic_load(&shm->daemon_alive) != 0;
}

void leat_shm_file_cut(struct leat_shm_file *f, uint64_t length)
{
	lower_to(&f->frontier, length);
	if (!length)
		atomic_fetch_and(&f->flags, ~(uint32_t)(LEAT_SHM_SPARSE | LEAT_SHM_EXTENTS));
}

static void publish(struct leat_shm_file *f, uint64_t end)
{
	/* Pairs with leat_shm_wait: both sides store their word, then load the
	 * other's (seq_cst), so at least one of them sees the other. */
	if (raise_to(&f->frontier, end) && end >= atomic_load(&f->wake_at))
		wake_all(f);
}

void leat_shm_publish(struct leat_shm_file *f, uint64_t end)
{
	/* Before these bytes there may be some that are just being copied (by who was
	 * interrupted by this): then they are published together. Both sides store
	 * their word, then load the other's. */
	if (atomic_load(&f->window) == LEAT_WINDOW_COPY) {
		raise_to(&f->pending, end);
		if (atomic_load(&f->window) == LEAT_WINDOW_COPY)
			return;
	}
	publish(f, end);
}

void leat_shm_copy_end(struct leat_shm_file *f, uint64_t end, bool announce)
{
	uint64_t pending;

	raise_to(&f->length, end);
	if (announce)
		publish(f, end);
	atomic_store(&f->window, LEAT_WINDOW_IDLE);
	pending = atomic_load(&f->pending);
	if (announce && pending > end)
		publish(f, pending);
}

/* A change takes some microseconds, unless its maker was stopped or killed. */
enum { SLEEP_NS = 20000, MAX_SLEEPS = 5000 };

static void sleep_briefly(void)
{
	const struct timespec t = {.tv_nsec = SLEEP_NS};
	int saved = errno;

	syscall(SYS_nanosleep, &t, NULL);
	errno = saved;
}

bool leat_shm_window_take(struct leat_shm_file *f, bool begin, bool force)
{
	uint32_t from = begin ? LEAT_WINDOW_NONE : LEAT_WINDOW_IDLE;

	if (force) {
		from = atomic_exchange(&f->window, LEAT_WINDOW_CHANGE);
		if (from != LEAT_WINDOW_NONE && from != LEAT_WINDOW_SHUT)
			return true;
		atomic_store(&f->window, from);
		return false;
	}
	if (!atomic_compare_exchange_strong(&f->window, &from, LEAT_WINDOW_CHANGE))
		return false;
	/* A write that began before does not know of the change. */
	if (!atomic_load(&f->writing))
		return true;
	atomic_store(&f->window, begin ? LEAT_WINDOW_NONE : LEAT_WINDOW_IDLE);
	return false;
}

void leat_shm_window_give(struct leat_shm_file *f, enum leat_shm_window next, uint64_t length)
{
	/* Before the state: whoever is killed in a change leaves the length that is true. */
	set_length(f, next == LEAT_WINDOW_IDLE ? length : UINT64_MAX);
	if (next == LEAT_WINDOW_IDLE)
		atomic_store(&f->pending, 0);
	atomic_store(&f->window, next);
}

void leat_shm_window_begin(struct leat_shm_file *f, uint64_t length)
{
	set_length(f, length);
}

bool leat_shm_window_shut(struct leat_shm_file *f)
{
	uint32_t none = LEAT_WINDOW_NONE;

	return atomic_compare_exchange_strong(&f->window, &none, LEAT_WINDOW_SHUT) ||
	       none == LEAT_WINDOW_SHUT;
}

/* Be counted among those who write while nobody changes the size. False: somebody does not end. */
static bool begin_writing(struct leat_shm_file *f)
{
	for (int i = 0; i < MAX_SLEEPS; i++) {
		atomic_fetch_add(&f->writing, 1);
		if (atomic_load(&f->window) != LEAT_WINDOW_CHANGE)
			return true;
		atomic_fetch_sub(&f->writing, 1);
		sleep_briefly();
	}
	return false;
}

bool leat_shm_writing(struct leat_shm_file *f, uint64_t start, uint64_t end,
		      struct leat_shm_write *w)
{
	*w = (struct leat_shm_write){.end = end, .length = UINT64_MAX};
	/* What would be written now, who changes the size would cut off. */
	if (!begin_writing(f))
		return false;
	if (!leat_shm_is_ahead(f))
		return true;
	w->length = atomic_load(&f->length);
	if (start > w->length) {
		atomic_fetch_sub(&f->writing, 1);
		return false;
	}
	raise_to(&f->length, end);
	return true;
}

void leat_shm_written(struct leat_shm_file *f, const struct leat_shm_write *w, uint64_t end)
{
	uint64_t planned = w->end;

	/* what was reserved and not used, unless others went on behind it */
	if (end < planned && planned > w->length)
		atomic_compare_exchange_strong(&f->length, &planned,
					       end > w->length ? end : w->length);
	atomic_fetch_sub(&f->writing, 1);
}

/* Both store their word and load the other's: one of them gives way. */
bool leat_shm_retain(struct leat_shm_file *f)
{
	atomic_fetch_and(&f->flags, ~(uint32_t)LEAT_SHM_DROP);
	return !atomic_load(&f->dropped);
}

bool leat_shm_drop(struct leat_shm_file *f, uint64_t end)
{
	uint64_t before = atomic_load(&f->dropped);

	atomic_store(&f->dropped, end);
	if (atomic_load(&f->flags) & LEAT_SHM_DROP)
		return true;
	atomic_store(&f->dropped, before);
	return false;
}

void leat_shm_mark_sparse(struct leat_shm_file *f)
{
	atomic_fetch_or(&f->flags, LEAT_SHM_SPARSE);
}

static _Atomic uint32_t *holders(struct leat_shm_file *f, bool write)
{
	return write ? &f->writing : &f->placing;
}

bool leat_shm_hold(struct leat_shm_file *f, bool write, uint32_t generation)
{
	uint32_t now;

	atomic_fetch_add(holders(f, write), 1);
	now = atomic_load(&f->generation);
	/* What is read while the file is copied is there before and after. */
	if (now == generation ||
	    (!write && now % LEAT_GENERATION_NEXT && now - generation < LEAT_GENERATION_NEXT))
		return true;
	atomic_fetch_sub(holders(f, write), 1);
	return false;
}

bool leat_shm_release(struct leat_shm_file *f, bool write, uint32_t generation)
{
	uint32_t now = atomic_load(&f->generation);

	atomic_fetch_sub(holders(f, write), 1);
	return now == generation || now == generation + LEAT_GENERATION_MOVING;
}

uint32_t leat_shm_holders(struct leat_shm_file *f, bool write)
{
	return atomic_load(holders(f, write));
}

void leat_shm_pin(struct leat_shm *shm, struct leat_shm_file *f)
{
	atomic_fetch_add(&shm->pins, 1);
	atomic_fetch_or(&f->flags, LEAT_SHM_PINNED);
}

/* The flags are read after the frontier was moved, as the daemon reads the frontier after it set
 * EXTENTS: one of the two sees the other. */
bool leat_shm_publish_range(struct leat_shm_file *f, uint64_t start, uint64_t end)
{
	if (leat_shm_flags(f) & LEAT_SHM_SPARSE && start > leat_shm_frontier(f))
		return true;
	leat_shm_publish(f, end);
	return leat_shm_flags(f) & LEAT_SHM_EXTENTS;
}

void leat_shm_consumed(struct leat_shm_file *f, uint64_t offset, uint64_t length)
{
	if (!length)
		return;
	if (atomic_load(&f->read_lo) > offset)
		lower_to(&f->read_lo, offset);
	/* the barrier for both */
	raise_to(&f->read_hi, leat_range_end(offset, length));
}

/* ---- bytes about to change ---- */

/* About what is written and read at a time. */
#define REGION ((uint64_t)1 << 20)

/* Bit i: some of the range is counted in word i. What lies a power of two apart, as the parts of a
 * file that several write or read at once often do, is spread over the words. */
static unsigned regions_of(struct leat_range range)
{
	const uint64_t first = range.begin / REGION;
	unsigned set = 0;

	if (range.end <= range.begin)
		return 0;
	if ((range.end - 1) / REGION - first >= LEAT_SHM_REGIONS)
		return (1u << LEAT_SHM_REGIONS) - 1;
	for (uint64_t i = first; i <= (range.end - 1) / REGION; i++)
		set |= 1u << (i * 0x9e3779b97f4a7c15 >> 61);
	return set;
}
_Static_assert(LEAT_SHM_REGIONS == 1 << (64 - 61), "the upper bits choose one of the words");

void leat_shm_rewrite_begin(struct leat_shm_file *f, struct leat_range range)
{
	for (unsigned set = regions_of(range); set; set &= set - 1)
		atomic_fetch_add(&f->rewriting[__builtin_ctz(set)], 1);
	atomic_thread_fence(memory_order_seq_cst);
}

void leat_shm_rewrite_end(struct leat_shm_file *f, struct leat_range range)
{
	for (unsigned set = regions_of(range); set; set &= set - 1)
		atomic_fetch_sub(&f->rewriting[__builtin_ctz(set)], 1);
}

bool leat_shm_is_rewritten(struct leat_shm_file *f, struct leat_range range)
{
	for (unsigned set = regions_of(range); set; set &= set - 1)
		if (atomic_load(&f->rewriting[__builtin_ctz(set)]))
			return true;
	return false;
}

/* Who was killed in a change leaves its step failed, or ended: then the file is final. */
void leat_shm_await_rewrite(struct leat_shm_file *f, struct leat_range range)
{
	while (leat_shm_is_rewritten(f, range) &&
	       !(leat_shm_flags(f) & (LEAT_SHM_COMMITTED | LEAT_SHM_FAILED)))
		sleep_briefly();
}

bool leat_shm_was_consumed(struct leat_shm_file *f, uint64_t offset, uint64_t length)
{
	return length && leat_range_end(offset, length) > atomic_load(&f->read_lo) &&
	       offset < atomic_load(&f->read_hi);
}

int leat_shm_wait(struct leat_shm_file *f, uint32_t seen, uint64_t wake_at, uint64_t timeout_ns)
{
	struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
				   .tv_nsec = (long)(timeout_ns % 1000000000u)};
	long rc;

	/* A waiter that is killed or longjmps away leaves `waiters` too high and
	 * `wake_at` too low; both cost its fellows a system call, no wake-up. */
	atomic_fetch_add(&f->waiters, 1);
	lower_to(&f->wake_at, wake_at);
	if (atomic_load(&f->frontier) >= wake_at)
		rc = 0;
	else
		rc = futex(&f->seq, FUTEX_WAIT, seen, &timeout, 0);
	atomic_fetch_sub(&f->waiters, 1);
	return (int)rc;
}

int leat_shm_wait_range(struct leat_shm_file *f, uint32_t seen, const struct leat_range *wanted,
			uint64_t timeout_ns)
{
	struct timespec until;
	long rc;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &until); /* the library has no other way */
	timeout_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(timeout_ns / 1000000000u);
	until.tv_nsec = (long)(timeout_ns % 1000000000u);
	atomic_fetch_add(&f->waiters, 1);
	rc = futex(&f->seq, FUTEX_WAIT_BITSET, seen, &until, groups_of(wanted));
	atomic_fetch_sub(&f->waiters, 1);
	return (int)rc;
}

/* The word of who waits is stored first, as by leat_shm_wait: who publishes the first byte after
 * the look below changes seq, and who has done so before it is found by it. */
uint32_t leat_shm_seq_without_bytes(struct leat_shm_file *f)
{
	uint32_t seq;

	lower_to(&f->wake_at, 1);
	seq = atomic_load(&f->seq);
	return atomic_load(&f->frontier) ? seq - 1 : seq;
}
