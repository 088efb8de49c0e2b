/* A parsed JSON or YAML text as a tree in which every node knows its place. */
#ifndef LEAT_LANG_SYNTAX_VALUE_H
#define LEAT_LANG_SYNTAX_VALUE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_value_kind { LEAT_VALUE_SCALAR, LEAT_VALUE_LIST, LEAT_VALUE_MAP };

struct leat_value {
	enum leat_value_kind kind;
	bool plain;            /* scalar without quotes: a number, true, null ... */
	char *text;            /* scalar: owned, NUL-terminated, holds no other NUL */
	struct leat_value **v; /* owned; of a map: key, value, key, value ... */
	size_t n;              /* elements of v */
	struct leat_pos pos;
};

/* Parse `text`, which has no NUL among its `size` bytes and a NUL after them, as
 * JSON or as YAML. Keys are scalars and unique in their map. `file` goes into
 * all positions.
 * 0 and *root (caller frees); -EINVAL when an error was added; -ENOMEM. */
int leat_value_parse(const char *text, size_t size, int file, bool json, struct leat_diags *diags,
		     struct leat_value **root);

/* NULL is allowed. */
void leat_value_free(struct leat_value *node);

/* The value of `key` in a map, or NULL; NULL also when `map` is no map. */
const struct leat_value *leat_value_get(const struct leat_value *map, const char *key);
/* Its text, or "" if it is no scalar; what that says as a number. */
const char *leat_value_text(const struct leat_value *map, const char *key);
uint64_t leat_value_number(const struct leat_value *map, const char *key);

/* True for a scalar that stands for nothing: null, ~ or no text at all. */
bool leat_value_is_null(const struct leat_value *node);

#endif
