/* Strings in quotes, as YAML 1.2 (and JSON, which is a part of it) has them. */
#ifndef LEAT_LANG_SYNTAX_QUOTED_H
#define LEAT_LANG_SYNTAX_QUOTED_H

#include <stdbool.h>
#include <stddef.h>

/* What the `size` bytes between two quotes stand for: doubled quotes, escapes and line ends are
 * resolved as in YAML 1.2.2, sections 5.7, 6.5 and 7.3. The caller frees *out, which has a NUL
 * behind its *length bytes.
 * 0; -ENOMEM; -EILSEQ: at offset *length stands what is no escape sequence. */
int leat_quoted_decode(const char *text, size_t size, bool double_quoted, char **out,
		       size_t *length);

#endif
