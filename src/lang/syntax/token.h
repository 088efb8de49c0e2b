/* The texts of libfyaml's scalars. */
#ifndef LEAT_LANG_SYNTAX_TOKEN_H
#define LEAT_LANG_SYNTAX_TOKEN_H

#include <libfyaml.h>
#include <stddef.h>

/* The text that `token`, a scalar of `source`, stands for. The caller frees *out, which has a NUL
 * behind its *size bytes.
 * 0 or -ENOMEM; else it cannot be given, *size is the offset in `source` where, and *why what is
 * wrong there: -EINVAL. */
int leat_token_text(struct fy_token *token, const char *source, char **out, size_t *size,
		    const char **why);

#endif
