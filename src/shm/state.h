/* The shared segment: one state record per file that the rules know, one
 * account per step. All atomics of the project are in this layer.
 *
 * The daemon makes the segment (memfd), clients map it. The daemon decides and
 * writes `state`, `flags`, `size`; the producer's processes advance `frontier`;
 * consumers widen `read_lo`/`read_hi`. Everything a client can write is
 * advice to the daemon, never trusted as an index. */
#ifndef LEAT_SHM_STATE_H
#define LEAT_SHM_STATE_H

#include "base/range.h"
#include "shm/limit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define LEAT_SHM_MAGIC 0x7461656cu /* "leat" */
#define LEAT_SHM_VERSION 16
#define LEAT_SHM_MAX_FILES (1u << 20)
#define LEAT_SHM_MAX_STEPS 1024u
#define LEAT_SHM_MAX_NAMES (1u << 19)
#define LEAT_SHM_MAX_PLACES (1u << 19)
#define LEAT_SHM_MAX_TABLES 64u
#define LEAT_SHM_MAX_RANGES 1023u
#define LEAT_SHM_MAX_CTIMES (1u << 18)

enum leat_shm_flags {
	LEAT_SHM_SPARSE = 1,    /* holes may exist: the kernel's size is no frontier */
	LEAT_SHM_EXTENTS = 2,   /* the daemon keeps extents beyond the frontier */
	LEAT_SHM_COMMITTED = 4, /* final; `size` is the length */
	LEAT_SHM_FAILED = 8,    /* reads answer EIO */
	LEAT_SHM_DROP = 16,     /* what was read may go, until somebody needs all of it */
	LEAT_SHM_PINNED = 32,   /* mapped while it grows: must stay where it is */
	LEAT_SHM_SEEN = 64,     /* opened or looked at without asking the daemon */
	LEAT_SHM_TIMED = 128,   /* a program has set its time of modification */
	LEAT_SHM_SHARED = 256,  /* several steps write it: each tells the daemon where */
	LEAT_SHM_LOOKED = 512,  /* looked at without asking the daemon, or run */
};

/* Writing by mapped windows (shm/window.h): whether, and who is at it. */
enum leat_shm_window {
	LEAT_WINDOW_NONE,   /* nobody; the kernel's size is the length */
	LEAT_WINDOW_IDLE,   /* the kernel's size is ahead of `length` */
	LEAT_WINDOW_COPY,   /* and somebody is copying bytes in */
	LEAT_WINDOW_CHANGE, /* somebody is changing the kernel's size */
	LEAT_WINDOW_SHUT,   /* as NONE, and it stays so */
};

/* Steps may use only what they declare; and all of them are behind mounts. */
enum leat_shm_enforced { LEAT_ENFORCED = 1, LEAT_SEALED = 2 };

enum { LEAT_SHM_REGIONS = 8 };

/* Two cache lines: what a producer writes for each operation, and the rest. */
struct leat_shm_file {
	_Atomic uint64_t frontier; /* bytes [0, frontier) exist */
	_Atomic uint64_t wake_at;  /* producers wake when the frontier reaches this */
	_Atomic uint64_t length;   /* of the file; UINT64_MAX: the kernel's size is */
	_Atomic uint64_t pending;  /* published by another than who is copying */
	_Atomic uint32_t window;   /* enum leat_shm_window */
	_Atomic uint32_t writing;  /* writes by the kernel under way */
	_Atomic uint64_t dropped;  /* bytes below are gone; only the daemon moves it */
	/* producers about to change bytes that exist, by region: see leat_shm_rewrite_begin */
	_Atomic uint16_t rewriting[LEAT_SHM_REGIONS];
	_Atomic uint32_t seq;     /* futex word: changes whenever waiters must look again */
	_Atomic uint32_t waiters; /* processes (about to be) asleep on seq */
	_Atomic uint32_t flags;   /* enum leat_shm_flags */
	_Atomic uint32_t changes; /* see "names" below */
	_Atomic uint64_t size;    /* length, valid once committed */
	_Atomic uint64_t read_lo; /* hull of the bytes consumers have read; lo > hi: none */
	_Atomic uint64_t read_hi;
	_Atomic uint32_t generation; /* changes when the file moves, leat_shm_set_generation */
	_Atomic uint32_t placing;    /* calls under way that use an offset the kernel keeps */
	_Atomic uint32_t table;      /* of its written parts, 0: none (shm/extents.h) */
	_Atomic uint32_t epoch;      /* moves before `length` begins or ceases to count */
	_Atomic uint64_t seen_by;    /* steps with SEEN, a bit each */
};
_Static_assert(sizeof(struct leat_shm_file) == 128, "two cache lines a file");

struct leat_shm_step {
	_Atomic uint64_t bytes_in;
	_Atomic uint64_t bytes_out;
	_Atomic uint64_t wait_ns; /* summed over all its threads */
	_Atomic uint64_t waiting; /* threads waiting now */
	_Atomic uint64_t reads;
	_Atomic uint64_t writes;
	_Atomic uint64_t opens;
	_Atomic uint64_t
		copy_ns; /* spent moving bytes, in part estimated (preload/connection/timing.h) */
};
_Static_assert(sizeof(struct leat_shm_step) == 64, "one cache line a step");

/* A published name (shm/names.h). */
struct leat_shm_name {
	_Atomic uint32_t sequence;
	uint32_t length; /* 0: none */
	uint64_t common;
	uint64_t consumers;
	uint32_t changes;
	uint32_t slot;
	uint32_t place; /* which of `places` leads here */
	char text[92];  /* not terminated */
};
_Static_assert(sizeof(struct leat_shm_name) == 128, "two cache lines a name");

/* The written parts of a file (shm/extents.h). */
struct leat_shm_table {
	_Atomic uint32_t sequence;
	_Atomic uint32_t count; /* LEAT_SHM_MAX_RANGES + 1: and more */
	_Atomic uint32_t slot;  /* of the file; 0: free */
	uint32_t pad;
	struct {
		_Atomic uint64_t begin, end;
	} ranges[LEAT_SHM_MAX_RANGES];
};
_Static_assert(sizeof(struct leat_shm_table) == 16384, "four pages a table");

/* What is shown of an inode's time of change (shm/ctimes.h). Times are in ns. */
struct leat_shm_ctime {
	_Atomic uint32_t sequence;
	_Atomic uint32_t held; /* it is shown whatever the inode has; 2: so is `mtime` */
	_Atomic uint64_t device;
	_Atomic uint64_t inode; /* 0: free */
	_Atomic uint64_t ctime; /* it is shown as long as the inode has these two */
	_Atomic uint64_t mtime;
	_Atomic int64_t shown;
	_Atomic uint64_t age; /* grows with each change of the table */
	uint64_t pad;
};
_Static_assert(sizeof(struct leat_shm_ctime) == 64, "one cache line an inode");

struct leat_shm {
	uint32_t magic;
	uint32_t version;
	_Atomic uint32_t daemon_alive; /* 0 once the daemon is shutting down */
	uint32_t n_steps;
	_Atomic uint64_t changes; /* see "names" below */
	_Atomic uint32_t changing;
	uint32_t enforced; /* enum leat_shm_enforced; set before there are clients */
	/* A writer to the store asks after so many bytes whether the budget has space for them; 0:
	 * the store is not larger than the budget. Only the daemon changes it. */
	_Atomic uint64_t ask_every;
	_Atomic uint64_t pins;           /* calls of leat_shm_pin; 0: no file is PINNED */
	_Atomic uint64_t ctimes_changes; /* 0: nothing is in the table of times of change */
	uint8_t pad[8];
	struct leat_shm_step steps[LEAT_SHM_MAX_STEPS];
	struct leat_shm_limit limits[LEAT_SHM_MAX_STEPS];
	_Atomic uint32_t lost[LEAT_SHM_MAX_STEPS]; /* enum leat_lost (wire/wire.h) of a process */
	struct leat_shm_file files[LEAT_SHM_MAX_FILES];
	_Atomic uint32_t places[LEAT_SHM_MAX_PLACES]; /* of names, by their hash */
	struct leat_shm_name names[LEAT_SHM_MAX_NAMES];
	struct leat_shm_table tables[LEAT_SHM_MAX_TABLES];
	struct leat_shm_ctime ctimes[LEAT_SHM_MAX_CTIMES];
};

/* --- daemon side (event loop only) --- */

/* Make the segment; on success *fd is a memfd to pass to clients (owned by the
 * caller) and *shm its mapping. 0 or -errno. */
int leat_shm_create(int *fd, struct leat_shm **shm);
void leat_shm_unmap(struct leat_shm *shm);

/* The daemon ends: clear daemon_alive and wake who sleeps on one of the records
 * up to `last_slot`, so that all look at their connections. */
void leat_shm_shut(struct leat_shm *shm, uint32_t last_slot);

/* Reset a record for a new name. */
void leat_shm_file_init(struct leat_shm_file *f);

/* Change of state: set and clear flags, then wake everybody. */
void leat_shm_file_update(struct leat_shm_file *f, uint32_t set, uint32_t clear);

/* Bytes of `changed` are there that the frontier does not tell of: wake who waits for them. */
void leat_shm_wake_range(struct leat_shm_file *f, const struct leat_range *changed);

/* The file is final with `size` bytes: set size and COMMITTED, wake everybody. */
void leat_shm_file_finish(struct leat_shm_file *f, uint64_t size);

/* The file was cut to `length` bytes: those beyond do not exist any more, and of
 * an empty file nothing is known to be missing. */
void leat_shm_file_cut(struct leat_shm_file *f, uint64_t length);

/* Location generations: a file that is open, and is moved between memory and disk, gets another
 * one. Set while it moves and when it has moved; leat_shm_file_update is to follow, which wakes
 * those who wait. */
enum {
	LEAT_GENERATION_MOVING = 1, /* writers are waited for, then it is copied */
	LEAT_GENERATION_FORCED = 3, /* it is copied, although somebody seems to be at it still */
	LEAT_GENERATION_NEXT = 4,   /* while the file does not move it is a multiple of this */
};
void leat_shm_set_generation(struct leat_shm_file *f, uint32_t generation);

/* --- client side (any thread, async-signal-safe, errno untouched) --- */

/* Map a segment received from the daemon. 0 or -errno (-EPROTO: other version). */
int leat_shm_map(int fd, struct leat_shm **shm);

/* False once the daemon has shut the segment. */
bool leat_shm_alive(const struct leat_shm *shm);

/* Publish that [0, end) exists; wakes waiters when the lowest wake_at is reached.
 * The daemon moves the frontier with it, too. */
void leat_shm_publish(struct leat_shm_file *f, uint64_t end);

/* Before a write or truncate that may leave a hole. */
void leat_shm_mark_sparse(struct leat_shm_file *f);

/* The bytes [start, end) are in the file. Where holes may be, only what joins the frontier moves
 * it. True: the daemon must be told of them, who puts the rest together. */
bool leat_shm_publish_range(struct leat_shm_file *f, uint64_t start, uint64_t end);

/* From now on the file stays where it is, unless it is being moved already: look at its
 * generation afterwards. */
void leat_shm_pin(struct leat_shm *shm, struct leat_shm_file *f);

/* Has that been done to any file? */
static inline bool leat_shm_has_pinned(const struct leat_shm *shm)
{
	return atomic_load(&shm->pins) > 0;
}

/* What keeps a file where it is, or a description from being exchanged, for the moment of a call:
 * a write, or (not `write`) the use of an offset that the kernel keeps. False: the file has another
 * generation than `generation`, or must not be written now. Both sides store their word, then load
 * the other's. */
bool leat_shm_hold(struct leat_shm_file *f, bool write, uint32_t generation);
/* False: it took so long that the file was moved without it: what was written may be lost. */
bool leat_shm_release(struct leat_shm_file *f, bool write, uint32_t generation);
/* How many hold it so; after the daemon has changed `generation`: who still use the former
 * location. */
uint32_t leat_shm_holders(struct leat_shm_file *f, bool write);

/* Note that a consumer has read [offset, offset+length). */
void leat_shm_consumed(struct leat_shm_file *f, uint64_t offset, uint64_t length);

/* Around the look whether somebody has read bytes that exist, and the change of them: a consumer
 * that has noted that it reads of them waits until they are over, unless the file is final. Both
 * sides store their word, then load the other's. `range`: the same in both; [0, UINT64_MAX) where
 * it is not known. Ranges are told apart by regions of the file, so that who reads one part of it
 * need not wait for who writes another; some far apart count as one. Any process. */
void leat_shm_rewrite_begin(struct leat_shm_file *f, struct leat_range range);
void leat_shm_rewrite_end(struct leat_shm_file *f, struct leat_range range);

/* Consumer, after leat_shm_consumed of that range. */
bool leat_shm_is_rewritten(struct leat_shm_file *f, struct leat_range range);
void leat_shm_await_rewrite(struct leat_shm_file *f, struct leat_range range);

/* Has some consumer read any of [offset, offset+length)? (hull, may say yes too often) */
bool leat_shm_was_consumed(struct leat_shm_file *f, uint64_t offset, uint64_t length);

/* Sleep until seq differs from `seen`, the frontier reaches `wake_at`, a
 * signal was handled, or timeout_ns passed. Returns 0 woken, -EAGAIN seq had
 * changed already, -EINTR, -ETIMEDOUT. */
int leat_shm_wait(struct leat_shm_file *f, uint32_t seen, uint64_t wake_at, uint64_t timeout_ns);

/* The same in a file with EXTENTS, until any of the bytes of `wanted` are written. */
int leat_shm_wait_range(struct leat_shm_file *f, uint32_t seen, const struct leat_range *wanted,
			uint64_t timeout_ns);

/* Daemon, of a file in which it has found no byte: a `seen` for who waits for the first one. */
uint32_t leat_shm_seq_without_bytes(struct leat_shm_file *f);

/* --- the budget, where the store is larger than it (client side) --- */

/* What the threads of a process have added since the daemon was asked; all 0 at first. */
struct leat_shm_unasked {
	_Atomic uint64_t bytes;
};

/* The daemon: after how many bytes that is. */
static inline void leat_shm_ask_every(struct leat_shm *shm, uint64_t bytes)
{
	atomic_store_explicit(&shm->ask_every, bytes, memory_order_relaxed);
}

/* Before `length` bytes are added: of how many, with those before, the daemon has to be asked
 * whether they are within the budget. 0: of none. */
static inline uint64_t leat_shm_unasked(const struct leat_shm *shm, struct leat_shm_unasked *u,
					uint64_t length)
{
	uint64_t every = atomic_load_explicit(&shm->ask_every, memory_order_relaxed), sum;

	if (!every)
		return 0;
	sum = atomic_fetch_add_explicit(&u->bytes, length, memory_order_relaxed) + length;
	return sum < every ? 0 : sum;
}

/* Its answer was `rc`: is the budget used up? Then the next write asks, too. */
static inline bool leat_shm_asked(const struct leat_shm *shm, struct leat_shm_unasked *u, int rc)
{
	bool is_over = rc == -ENOSPC;
	uint64_t every = atomic_load_explicit(&shm->ask_every, memory_order_relaxed);

	atomic_store_explicit(&u->bytes, is_over ? every : 0, memory_order_relaxed);
	return is_over;
}

/* --- names ---
 *
 * What the daemon says of a name, and what stat shows of the file, may be remembered for
 * as long as two counters stand still: that of the file's record, and the common one for what
 * concerns files nobody can name (another link, all below a directory). Whoever changes
 * something counts after it is done and before anybody is told; whoever remembers reads
 * the counters before it asks or looks. Any thread and process, async-signal-safe. */

static inline uint32_t leat_shm_file_changes(const struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->changes, memory_order_acquire);
}

static inline void leat_shm_file_changed(struct leat_shm_file *f)
{
	atomic_fetch_add(&f->changes, 1);
}

static inline uint64_t leat_shm_changes(const struct leat_shm *shm)
{
	return atomic_load_explicit(&shm->changes, memory_order_acquire);
}

static inline void leat_shm_changed(struct leat_shm *shm)
{
	atomic_fetch_add(&shm->changes, 1);
}

/* The same in two parts, by who may be killed before it has counted. */
static inline void leat_shm_change_begin(struct leat_shm *shm)
{
	atomic_fetch_add(&shm->changing, 1);
}

static inline void leat_shm_change_end(struct leat_shm *shm)
{
	leat_shm_changed(shm);
	atomic_fetch_sub(&shm->changing, 1);
}

/* A process was killed: count for it if it may have changed something. */
static inline void leat_shm_change_cut(struct leat_shm *shm)
{
	if (atomic_load(&shm->changing))
		leat_shm_changed(shm);
}

/* --- processes that cannot speak with the daemon any more --- */

static inline void leat_shm_lose(struct leat_shm *shm, uint32_t step, uint32_t cause)
{
	atomic_store(&shm->lost[step], cause);
}

/* Daemon. 0: none has since it was asked last. */
static inline uint32_t leat_shm_take_lost(struct leat_shm *shm, uint32_t step)
{
	return atomic_load_explicit(&shm->lost[step], memory_order_relaxed)
		       ? atomic_exchange(&shm->lost[step], 0)
		       : 0;
}

/* --- files that are not retained --- */

/* Bytes below it are gone. To be looked at before and after they are read. */
static inline uint64_t leat_shm_dropped(struct leat_shm_file *f)
{
	return atomic_load(&f->dropped);
}

/* The file is about to be used by `step` without the daemon being asked; `looks`: it is not opened
 * but looked at. Look at the counters of the name afterwards: the daemon moves them before it looks
 * at the flag. Any process. */
static inline void leat_shm_see(struct leat_shm_file *f, int step, bool looks)
{
	const uint32_t flags = LEAT_SHM_SEEN | (looks ? LEAT_SHM_LOOKED : 0);
	const uint64_t bit = UINT64_C(1) << step % 64;

	if (!(atomic_load(&f->seen_by) & bit))
		atomic_fetch_or(&f->seen_by, bit);
	if ((atomic_load(&f->flags) & flags) != flags)
		atomic_fetch_or(&f->flags, flags);
	atomic_thread_fence(memory_order_seq_cst); /* see leat_shm_was_seen */
}

/* Has anybody used it so? Daemon; after it has moved the counters of the name. */
static inline bool leat_shm_was_seen(struct leat_shm_file *f)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load(&f->flags) & LEAT_SHM_SEEN;
}

/* By which steps, a bit each (of more than 64 the number modulo that). Daemon, after
 * leat_shm_was_seen. */
static inline uint64_t leat_shm_seen_by(struct leat_shm_file *f)
{
	return atomic_load(&f->seen_by);
}

/* A program has set the times of the file: UTIME_NOW and UTIME_OMIT for that of modification are
 * what the kernel does by itself, `times` NULL is both now. NULL is allowed. Any process. */
static inline void leat_shm_note_times(struct leat_shm_file *f, const struct timespec *times)
{
	if (f && times && times[1].tv_nsec != UTIME_NOW && times[1].tv_nsec != UTIME_OMIT)
		atomic_fetch_or(&f->flags, LEAT_SHM_TIMED);
}

/* Nothing of it may go any more. False: something has gone already. Any process. */
bool leat_shm_retain(struct leat_shm_file *f);

/* The daemon is about to remove the bytes below `end`. False: it must not. */
bool leat_shm_drop(struct leat_shm_file *f, uint64_t end);

/* Record of a slot, NULL for 0 and for numbers that are none; `shm` may be NULL, too. */
static inline struct leat_shm_file *leat_shm_file_of(struct leat_shm *shm, uint32_t slot)
{
	return shm && slot && slot < LEAT_SHM_MAX_FILES ? &shm->files[slot] : NULL;
}

static inline uint32_t leat_shm_seq(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->seq, memory_order_acquire);
}

static inline uint32_t leat_shm_flags(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->flags, memory_order_acquire);
}

/* The file's location generation. What a client has written before it looks is moved along if it
 * finds the generation unchanged: pairs with leat_shm_set_generation, which
 * the daemon calls before it copies. */
static inline uint32_t leat_shm_generation(struct leat_shm_file *f)
{
	return atomic_load(&f->generation);
}

/* Pairs with leat_shm_publish: bytes below the value returned can be read. */
static inline uint64_t leat_shm_frontier(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->frontier, memory_order_acquire);
}

/* Length of a committed file. */
static inline uint64_t leat_shm_size(struct leat_shm_file *f)
{
	return atomic_load_explicit(&f->size, memory_order_acquire);
}

/* Statistics: no ordering is implied. */
static inline void leat_shm_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static inline uint64_t leat_shm_counted(_Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
