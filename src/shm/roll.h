/* The roll: a file in the session's directory that all processes of a run map, and in which each
 * program that is started says that it is followed. Who never says so runs unseen
 * (docs/adr/0068-who-never-attached.md). Entries are by process number; a process writes its own,
 * and who has waited for it judges it. Any thread, async-signal-safe, without libc. */
#ifndef LEAT_SHM_ROLL_H
#define LEAT_SHM_ROLL_H

#include "shm/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the session's directory. The number is that of the layout below: who has another one finds no
 * roll, and nobody has to look at a page of it to see which it is. */
#define LEAT_ROLL_NAME "roll-3"

enum {
	LEAT_ROLL_ENTRIES = 4096,
	LEAT_ROLL_BLOCK = LEAT_ROLL_ENTRIES / 32, /* entries for which there is one bit */
	LEAT_ROLL_PROGRAM = 32,                   /* bytes of a program's name, cut short */
};

#define LEAT_ROLL_UNKNOWN (-1)

/* Who is killed so soon after its start may still have been loading its libraries. */
#define LEAT_ROLL_LOADING_NS UINT64_C(200000000)

enum leat_roll_state {
	LEAT_ROLL_STARTING = 1, /* somebody has started the program; it has not said anything */
	LEAT_ROLL_FOLLOWED,     /* it is followed, and will say when it ends */
	LEAT_ROLL_LOOSE,        /* it is followed, and may end by system calls of its own */
	LEAT_ROLL_NEVER,        /* a verdict: it ran, or ended, and never said a word */
	LEAT_ROLL_PAST,         /* a verdict: it ended by itself without saying so */
};

struct leat_roll_entry {
	struct leat_word process; /* its number, and its namespace << 32 if it has another one than
				   * the daemon; 0: nobody's */
	struct leat_word state;
	uint64_t since_ns; /* STARTING: CLOCK_MONOTONIC */
	uint32_t step;     /* leat_roll_step */
	int32_t status;    /* verdict: as from waitpid; LEAT_ROLL_UNKNOWN */
	char program[LEAT_ROLL_PROGRAM];
};

struct leat_roll {
	uint64_t namespace;    /* inode of that of the daemon's process numbers, cut to 32 bits */
	struct leat_bits used; /* blocks in which an entry is, or was, somebody's */
	char unused[52];
	struct leat_roll_entry entry[LEAT_ROLL_ENTRIES];
};
_Static_assert(sizeof(struct leat_roll_entry) == 64, "one line of the cache");

/* What stands for the step of that name. */
uint32_t leat_roll_step(const char *name);

/* The process is about to write to its entry: one fault for that, where the first look at the page
 * would be another one. */
void leat_roll_touch(struct leat_roll *roll, uint64_t process);

/* The process's entry, or NULL. */
struct leat_roll_entry *leat_roll_find(struct leat_roll *roll, uint64_t process);

/* The entry behind `e`, NULL: the first one. NULL: that was the last. Those that nobody has had may
 * be left out: looking at them all would bring all pages in. */
struct leat_roll_entry *leat_roll_next(struct leat_roll *roll, const struct leat_roll_entry *e);

/* It is about to become `program` (a path), or to fail in that: `before`, if not NULL, is set to
 * what its entry was, for leat_roll_put. */
void leat_roll_start(struct leat_roll *roll, uint64_t process, uint32_t step, const char *program,
		     uint64_t now_ns, struct leat_roll_entry *before);

/* The entry as it was; of process 0: there was none. */
void leat_roll_put(struct leat_roll *roll, uint64_t process, const struct leat_roll_entry *before);

/* It is followed. Returns the step that it counts for: who has started it knew that better. */
uint32_t leat_roll_follow(struct leat_roll *roll, uint64_t process, uint32_t step,
			  const char *program, bool loose);

/* The same of the child of a fork. */
void leat_roll_fork(struct leat_roll *roll, uint64_t process, uint32_t step, const char *program,
		    bool loose);

/* It is followed, but cannot take part in its run: a verdict. */
void leat_roll_stray(struct leat_roll *roll, uint64_t process);

/* It has said that it ends, or is no concern any more. */
void leat_roll_leave(struct leat_roll *roll, uint64_t process);

/* It has ended with `status` as from waitpid: where that cannot be explained the entry is a verdict
 * from now on, else nobody's. */
void leat_roll_ended(struct leat_roll *roll, uint64_t process, int status, uint64_t now_ns);

#endif
