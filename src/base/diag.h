/* Diagnostics for people: what is wrong, where, and what to do.
 *
 * A diagnostic names a file, a line and a column (1-based; 0 = unknown), a
 * severity, a stable code such as "L-RULE-ON-FILE-NO-DEPS" and a text. They are
 * collected in a list so that one run reports all of them, and printed like a
 * compiler's: "file:line:column: error: text [code]", the source line, a caret.
 */
#ifndef LEAT_BASE_DIAG_H
#define LEAT_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum leat_severity { LEAT_NOTE, LEAT_WARNING, LEAT_ERROR };

/* A place in a source file. Plain value; line and column (in characters) count
 * from 1. `file` is 0 for the list's own file, else from leat_diags_add_file. */
struct leat_pos {
	int line;
	int column;
	int file;
};

struct leat_diags;

/* New empty list. `path` is copied, `source` (the whole text, may be NULL) is
 * borrowed until leat_diags_free and used to print the line with its caret.
 * Returns NULL when out of memory. Any thread. */
struct leat_diags *leat_diags_new(const char *path, const char *source);

/* NULL is allowed; errno is preserved. */
void leat_diags_free(struct leat_diags *d);

/* Make another file known, as leat_diags_new does the first. Its positions have
 * the returned number as `file`, and print after those of earlier files. The
 * number, or -ENOMEM. */
int leat_diags_add_file(struct leat_diags *d, const char *path, const char *source);

/* Hand over `memory` (from malloc; e.g. a source text) to be freed with the
 * list. 0, or -ENOMEM; then it still belongs to the caller. */
int leat_diags_keep(struct leat_diags *d, void *memory);

/* Add one diagnostic; `code` is a string constant (borrowed), the text is
 * formatted and copied. */
void leat_diags_add(struct leat_diags *d, enum leat_severity severity, const char *code,
		    struct leat_pos pos, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* What is added from here on is about the `kind` of that name (task "make"), and begins with both
 * unless the text has the name anyway. Both are borrowed until the next call; name NULL: about
 * none. */
void leat_diags_set_subject(struct leat_diags *d, const char *kind, const char *name);

/* Number of diagnostics of that severity. */
size_t leat_diags_count(const struct leat_diags *d, enum leat_severity severity);

/* True if a diagnostic with this code was added (used by tests and fixtures). */
bool leat_diags_has(const struct leat_diags *d, const char *code);

/* True if all diagnostics of that severity have this code. */
bool leat_diags_has_only(const struct leat_diags *d, enum leat_severity severity, const char *code);

/* A mark for leat_diags_fold: what is added from here on comes after it. */
size_t leat_diags_mark(const struct leat_diags *d);

/* What of a diagnostic's text is the same for all that say the same; the caller frees it. NULL when
 * out of memory. */
typedef char *leat_diags_key_fn(const void *ctx, const char *text);

/* Of those added after `mark` that have one code, one place and one key, keep the first, and let it
 * say how many more there are. 0, or -ENOMEM; then some are left as they are. */
int leat_diags_fold(struct leat_diags *d, size_t mark, leat_diags_key_fn *key, const void *ctx);

/* Print all (of very many the first, and how many there are more), ordered by
 * position, to `out`; `color` adds terminal colours. */
void leat_diags_print(const struct leat_diags *d, FILE *out, bool color);

#endif
