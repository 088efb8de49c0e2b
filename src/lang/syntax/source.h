/* The texts of files: read, checked, and handed to the diagnostics that quote them. */
#ifndef LEAT_LANG_SYNTAX_SOURCE_H
#define LEAT_LANG_SYNTAX_SOURCE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

/* Read all of `path`. *text (caller frees) has a NUL after its *size bytes.
 * 0, -EFBIG or another -errno. */
int leat_source_read(const char *path, char **text, size_t *size);

/* Report the first byte that is not UTF-8 text. */
bool leat_source_check(struct leat_diags *diags, const char *text, size_t size, int file);

/* A copy of `text` without a byte order mark, with a NUL after it. */
char *leat_source_copy(const char *text, size_t *size);

/* Report that `name` was not read. */
void leat_source_unreadable(struct leat_diags *diags, int error, struct leat_pos pos,
			    const char *name);

/* Copy `given`, of *size bytes, to *text, which belongs to the new *diags (caller frees). 0;
 * -EINVAL when an error was added; -ENOMEM with *diags NULL. */
int leat_source_take(const char *path, const char *given, size_t *size, struct leat_diags **diags,
		     const char **text);

/* Read the file `path`: its text, of *size bytes, which the caller frees. NULL if it cannot be
 * read; then *diags is new and says so, or is NULL when out of memory. */
char *leat_source_load(const char *path, size_t *size, struct leat_diags **diags);

/* The end of a parser, which has come to `ret`: true if what it has read can be used. Of -ENOMEM no
 * diagnostics are left. */
bool leat_source_finish(int ret, struct leat_diags **diags);

/* Line and column (in characters) of offset `at` in `text`. */
struct leat_pos leat_text_pos(const char *text, size_t at, int file);

/* Move `pos` from offset `from` to offset `to` of `text`. */
void leat_text_advance(const char *text, size_t from, size_t to, struct leat_pos *pos);

#endif
