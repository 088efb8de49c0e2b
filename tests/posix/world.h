/* The differential tester: random sequences of file system calls that log what they see. The same
 * sequence on two file systems must give the same log.
 *
 * Every random number comes from (seed, step), so that a step does the same whatever steps before
 * it were left out. */
#ifndef LEAT_TESTS_POSIX_WORLD_H
#define LEAT_TESTS_POSIX_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_FD = 64, MAX_BYTES = 3 << 20 };

struct world {
	const char *root; /* borrowed: directory under test, absolute; never in the log */
	char shared[512]; /* DIRECTORY/shared: files to be read only; empty: there are none */
	const char *self; /* borrowed: this program, absolute */
	uint64_t seed;
	bool tame; /* odd seeds: no strange names, flags and descriptors, so that more calls succeed
		    */
	unsigned step;
	unsigned depth; /* of forks */
	uint64_t random;
	bool open[MAX_FD]; /* descriptors that are open */
	size_t length;     /* of line */
	char line[4096];
	char path[3][1024]; /* used in turn by pick_path */
	unsigned paths;
	char *bytes; /* owned, MAX_BYTES */
};

/* --- world.c --- */

void world_init(struct world *w, const char *root, const char *self, uint64_t seed);
void world_release(struct world *w);
/* Descriptors that are open, after exec. */
void world_look(struct world *w);

/* A number below n. */
uint64_t pick(struct world *w, uint64_t n);
/* True in `percent` of 100 cases. */
bool chance(struct world *w, unsigned percent);
#define PICK(w, array) ((array)[pick((w), sizeof(array) / sizeof(*(array)))])

/* A name, absolute, relative or strange. Good for three calls. */
const char *pick_path(struct world *w);
/* A name below the root that has never anything odd about it. */
const char *pick_name(struct world *w);
/* An open descriptor, seldom one that is not. */
int pick_fd(struct world *w);
/* AT_FDCWD, or sometimes a descriptor. */
int pick_dirfd(struct world *w);
/* A size or an offset; borders are likely. */
off_t pick_offset(struct world *w);
size_t pick_length(struct world *w);
/* w->bytes becomes what this step writes. */
void fill(struct world *w, size_t length);
/* A hash of bytes, for the log. */
uint64_t digest(const void *bytes, size_t length);

/* The log. A line is the call, with its arguments... */
void say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ...a path among them: the root is shown as "/"... */
void say_path(struct world *w, const char *path);
/* ...and how it ended: `rc` or errno. Returns rc. */
long result(struct world *w, long rc);
/* Write the line. */
void done(struct world *w);

/* Enter a new descriptor, or forget one. */
void opened(struct world *w, int fd);
void closed(struct world *w, int fd);

/* Make step `step`. */
void act(struct world *w, unsigned step);

/* --- tree.c --- */

/* Log everything below the root. */
void log_tree(struct world *w);
/* Remove the root and everything below. */
void remove_tree(const char *path);
/* What stat says of a file, into the line. */
struct stat;
void say_stat(struct world *w, const struct stat *st);

/* --- operations, by file --- */

struct operation {
	unsigned weight;
	void (*act)(struct world *w);
};

extern const struct operation data_operations[], name_operations[], fd_operations[],
	process_operations[], copy_operations[], shared_operations[];

#endif
