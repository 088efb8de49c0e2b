/* A command line that is put together word by word. One thread at a time. */
#ifndef LEAT_BASE_ARGV_H
#define LEAT_BASE_ARGV_H

#include <stdbool.h>
#include <stddef.h>

/* All 0 at first; the words are owned. */
struct leat_argv {
	char **v; /* NULL-terminated; NULL before the first */
	size_t n;
	bool failed; /* out of memory; later words are not added */
};

/* Append a copy of the text, or one that is formatted. */
void leat_argv_add(struct leat_argv *argv, const char *word);
void leat_argv_addf(struct leat_argv *argv, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same of a word that was allocated, and becomes the list's; NULL: there was no memory. */
void leat_argv_take(struct leat_argv *argv, char *word);
void leat_argv_release(struct leat_argv *argv);

#endif
