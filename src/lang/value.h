/* A parsed JSON or YAML text as a tree in which every node knows its place. */
#ifndef LEAT_LANG_VALUE_H
#define LEAT_LANG_VALUE_H

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

/* Line and column (in characters) of offset `at` in `text`. */
struct leat_pos leat_text_pos(const char *text, size_t at, int file);

/* Add the error that explains why `text`, which libfyaml has refused, is not
 * JSON. False if this function finds nothing wrong with it. */
bool leat_json_explain(const char *text, size_t size, int file, struct leat_diags *diags);

/* Add one diagnostic with the severity its code has in the table. Characters
 * that would break the line are replaced. */
void leat_say(struct leat_diags *diags, const char *code, struct leat_pos pos, const char *format,
	      ...) __attribute__((format(printf, 4, 5)));

#endif
