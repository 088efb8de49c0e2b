/* What this process knows of its descriptors: a cache of the kernel's truth,
 * rebuilt after exec, copied by fork, never changed in a vfork child. */
#ifndef LEAT_PRELOAD_FD_TABLE_H
#define LEAT_PRELOAD_FD_TABLE_H

#include "preload/core/fd_kinds.h"
#include "preload/fd/offset.h"
#include "client/reading.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum leat_fd_flags {
	LEAT_FD_SIZE = 2,       /* size_seen was shown before the commit */
	LEAT_FD_TRUSTED = 4,    /* and then it asked for what only that size can have told */
	LEAT_FD_UNSURE = 8,     /* writes may land on bytes that exist */
	LEAT_FD_APPEND = 16,    /* O_APPEND */
	LEAT_FD_WRITE = 32,     /* open for writing */
	LEAT_FD_REPORTED = 64,  /* its violation was reported */
	LEAT_FD_INPUT = 128,    /* a consumer's: locks never conflict */
	LEAT_FD_DROP = 256,     /* of a consumer: what was read goes */
	LEAT_FD_FORKED = 512,   /* a parent has it, too */
	LEAT_FD_READ = 1024,    /* of a version: that it was read is reported */
	LEAT_FD_LOOKED = 2048,  /* that a few bytes were looked at is */
	LEAT_FD_GLANCED = 4096, /* that it was looked at is */
	LEAT_FD_INTACT =
		8192, /* open for writing: before it changes something that is to be reported */
};

/* A piece of the file mapped for small reads or writes, window.c. */
struct leat_window {
	char *base; /* NULL: none */
	uint64_t start;
	uint64_t end;
	uint32_t generation; /* of what is mapped; migrate.h */
	bool writable;
};

struct leat_fd {
	uint8_t kind;  /* enum leat_kind */
	uint8_t looks; /* at the size, by a run time, while the file grows */
	uint32_t slot;
	uint32_t generation; /* where the file was by its shared record; migrate.h */
	uint64_t ofd;
	uint64_t size_seen;
	uint64_t read_end; /* end of what was read through it */
	uint64_t drop_end; /* up to here a DROP was sent */
	uint64_t handle;   /* DIR: the listing, 0 = none */
	uint64_t cookie;   /* DIR: names taken */
	/* Small reads and writes without system calls; only of what this process opened. */
	struct leat_offset *shared_offset; /* the offset; NULL: the kernel keeps it */
	uint64_t known;                    /* bytes below it may be read without further looks */
	struct leat_window window;
	uint32_t small; /* small operations so far */
	uint32_t used;  /* of them by this window */
	uint32_t calls; /* not yet counted */
	uint64_t bytes;
	uint64_t copy_ns;          /* one small operation, measured now and then */
	struct leat_glance glance; /* of a version */
	/* Of these, which come last, other threads may be changing one meanwhile. */
	struct leat_bits flags;       /* enum leat_fd_flags */
	struct leat_word busy;        /* 1: somebody uses the window, or puts in what a twin had */
	struct leat_word description; /* the same for all dups made here, and never again */
};

/* Those of `mask` that are set. */
static inline uint32_t leat_fd_has(const struct leat_fd *r, uint32_t mask)
{
	return leat_bits_get(&r->flags, mask);
}

static inline void leat_fd_set_flags(struct leat_fd *r, uint32_t flags)
{
	leat_bits_set(&r->flags, flags);
}

static inline void leat_fd_clear_flags(struct leat_fd *r, uint32_t flags)
{
	leat_bits_clear(&r->flags, flags);
}

/* False: somebody else is at it. */
static inline bool leat_fd_acquire(struct leat_fd *r)
{
	return leat_word_claim(&r->busy, 0, 1);
}

static inline void leat_fd_release(struct leat_fd *r)
{
	leat_word_set(&r->busy, 0);
}

/* Is it a version that was opened to be read, which has not been reported yet? */
static inline bool leat_fd_is_unread(const struct leat_fd *r)
{
	return r && r->ofd && !leat_fd_has(r, LEAT_FD_WRITE | LEAT_FD_READ);
}

/* Record of a descriptor with a kind, NULL for others. Racing threads that use one
 * descriptor may blur its statistics, never its kind. */
struct leat_fd *leat_fd_get(int fd);

/* All records; they are good where the descriptor has a kind. */
extern struct leat_fd leat_fd_table[LEAT_MAX_FD] __attribute__((visibility("hidden")));

#endif
