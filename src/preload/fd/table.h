/* What this process knows of its descriptors: a cache of the kernel's truth,
 * rebuilt after exec, copied by fork, never changed in a vfork child. */
#ifndef LEAT_PRELOAD_FD_TABLE_H
#define LEAT_PRELOAD_FD_TABLE_H

#include "preload/core/engine.h"
#include "preload/fd/offset.h"
#include "client/reading.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Mark of a descriptor of ours that the program must not see. */
#define LEAT_MARK_HIDDEN 255

enum leat_fd_flags {
	LEAT_FD_SIZE = 2,       /* size_seen was shown before the commit */
	LEAT_FD_TRUSTED = 4,    /* and then it asked for what only that size can have told */
	LEAT_FD_UNSURE = 8,     /* writes may land on bytes that exist */
	LEAT_FD_APPEND = 16,    /* O_APPEND */
	LEAT_FD_WRITE = 32,     /* open for writing */
	LEAT_FD_TOLD = 64,      /* its violation was reported */
	LEAT_FD_INPUT = 128,    /* a consumer's: locks never conflict */
	LEAT_FD_DROP = 256,     /* of a consumer: what was read goes */
	LEAT_FD_FORKED = 512,   /* a parent has it, too */
	LEAT_FD_READ = 1024,    /* of a version: that it was read is told */
	LEAT_FD_LOOKED = 2048,  /* that a few bytes were looked at is */
	LEAT_FD_GLANCED = 4096, /* that it was looked at is */
	LEAT_FD_INTACT =
		8192, /* open for writing: before it changes something that is to be told */
};

/* A piece of the file mapped for small reads or writes, window.c. */
struct leat_window {
	char *base; /* NULL: none */
	uint64_t start;
	uint64_t end;
	uint32_t home; /* of what is mapped; migrate.h */
	bool writable;
};

struct leat_fd {
	uint8_t kind;  /* enum leat_kind */
	uint8_t looks; /* at the size, by a run time, while the file grows */
	uint32_t slot;
	uint32_t home; /* where the file was by its shared record; migrate.h */
	uint64_t ofd;
	uint64_t size_seen;
	uint64_t read_end; /* end of what was read through it */
	uint64_t drop_end; /* told the daemon that it may go up to here */
	uint64_t handle;   /* DIR: the listing, 0 = none */
	uint64_t cookie;   /* DIR: names taken */
	/* Small reads and writes without system calls; only of what this process opened. */
	struct leat_offset *place; /* the offset; NULL: the kernel keeps it */
	uint64_t known;            /* bytes below it may be read without further looks */
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
static inline bool leat_fd_take(struct leat_fd *r)
{
	return leat_word_claim(&r->busy, 0, 1);
}

static inline void leat_fd_give(struct leat_fd *r)
{
	leat_word_set(&r->busy, 0);
}

/* Is it a version that was opened to be read, as nobody has been told yet? */
static inline bool leat_fd_is_unread(const struct leat_fd *r)
{
	return r && r->ofd && !leat_fd_has(r, LEAT_FD_WRITE | LEAT_FD_READ);
}

/* Before something is changed through a descriptor, which the daemon may have to know. */
void leat_fd_tell_wrote(struct leat_fd *r);
static inline void leat_before_change(struct leat_fd *r)
{
	if (leat_fd_has(r, LEAT_FD_INTACT))
		leat_fd_tell_wrote(r);
}

/* Kind of a descriptor; LEAT_KIND_NONE also for hidden ones. */
static inline enum leat_kind leat_fd_kind(int fd)
{
	uint8_t mark = (unsigned)fd < LEAT_MAX_FD ? leat_byte_get(&leat_fd_mark[fd]) : 0;

	return mark && mark != LEAT_MARK_HIDDEN ? (enum leat_kind)(mark - 1) : LEAT_KIND_NONE;
}

static inline bool leat_fd_hidden(int fd)
{
	return (unsigned)fd < LEAT_MAX_FD && leat_byte_get(&leat_fd_mark[fd]) == LEAT_MARK_HIDDEN;
}

/* Record of a marked descriptor, NULL for others. Racing threads that use one
 * descriptor may blur its statistics, never its kind. */
struct leat_fd *leat_fd_get(int fd);

/* Enter a descriptor just opened; kind NONE forgets it. 0, or -EMFILE when the
 * number is too high to be marked (the descriptor is then closed). */
int leat_fd_set(int fd, const struct leat_fd *record);

/* Around a call that makes a copy of `fd`: from the one to the other the description is held, even
 * if all its descriptors here are closed meanwhile. `copy`, the new descriptor, is of the same
 * description; below 0: there is none. Returns it, or -EMFILE. */
void leat_fd_copy_begin(int fd, struct leat_fd *record);
long leat_fd_copy_end(int fd, const struct leat_fd *record, long copy);

/* Close: forget, close, tell the daemon what it has to know. */
long leat_fd_close(int fd);

/* The first and the last part of it. True if `last` was the last descriptor here of
 * its description, and leat_fd_tell is to follow. */
bool leat_fd_detach(int fd, struct leat_fd *last);
void leat_fd_tell(const struct leat_fd *last);

/* Numbers from here on have no marks. */
int leat_fd_end(void);

/* Move a descriptor of ours out of the program's way and hide it; returns its
 * new number, the old one is closed. */
int leat_fd_hide(int fd);
/* Hide it where it is. 0, or -EMFILE: its number is too high. */
int leat_fd_hide_here(int fd);
/* Close a hidden descriptor. */
void leat_fd_unhide(int fd);
/* The program has closed it: its number is the program's. */
void leat_fd_reveal(int fd);

/* In a fork child: close inherited connections, leave what is the parent's to report. */
void leat_fd_fork_child(void);

/* What a process leaves to be said when it ends with descriptors open. */
void leat_fd_exiting(void);

/* The program is about to be replaced: what the new one inherits is left to the kernel. `variable`
 * becomes LEAT_OPEN for it, "<process>:<descriptor>,<descriptor>,"; empty if it has to look. */
void leat_fd_before_exec(char *variable, size_t size);

/* --- adopt.c --- */

/* Recognise a descriptor that came from elsewhere: exec, another process. */
void leat_fd_adopt(int fd);
/* All that the program before this one handed on, as LEAT_OPEN says. */
void leat_fd_adopt_all(char **envp);

#endif
