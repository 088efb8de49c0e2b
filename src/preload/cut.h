/* Cutting and hashing a path: done for every path call of the program, so with few
 * branches. After a system call the processor has forgotten how loops end. */
#ifndef LEAT_PRELOAD_CUT_H
#define LEAT_PRELOAD_CUT_H

#include <stddef.h>
#include <stdint.h>

/* A path cut into parent and last component. */
struct leat_cut {
	size_t length;
	size_t parent;      /* bytes, with its "/"; 0: the directory the path starts from */
	const char *last;   /* "" if the whole is to be taken as a directory: "..", "a/." */
	size_t last_length; /* without trailing slashes */
};

void leat_cut(const char *path, struct leat_cut *c);

/* A hash of the first `length` bytes. Not for hostile input: a program can only
 * deceive itself with it. */
uint64_t leat_cut_hash(const char *text, size_t length, uint64_t seed);

#endif
