/* A command line as words. */
#ifndef LEAT_LANG_SYNTAX_WORDS_H
#define LEAT_LANG_SYNTAX_WORDS_H

#include <stdio.h>

/* Split `text` into words as a shell does, with ' " and \ but without any
 * expansion. On success *argv is a NULL-terminated vector for leat_words_free.
 * 0; -EINVAL with *why a constant that says what is wrong; -ENOMEM. */
int leat_words_split(const char *text, char ***argv, const char **why);
void leat_words_free(char **argv);

/* Write a word so that a POSIX shell, or leat_words_split, reads it as one and as it is. */
void leat_words_put(FILE *out, const char *word);

/* The first character of `text` that seems to be meant for a shell (| & ; < > * $ `,
 * not quoted), or NUL if there is none. */
char leat_words_shell(const char *text);

#endif
