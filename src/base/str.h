/* Strings: formatting into the heap, joining paths. */
#ifndef LEAT_BASE_STR_H
#define LEAT_BASE_STR_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* A new string, formatted; the caller frees it. NULL when out of memory. Any thread. */
char *leat_strf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *leat_vstrf(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));

/* "dir/name", or `name` alone if it is absolute or `dir` is empty or NULL. The
 * caller frees it. NULL when out of memory. Any thread. */
char *leat_path_join(const char *dir, const char *name);

/* The same into `out`, of a relative name. False: too long. Any thread. */
bool leat_path_put(char out[PATH_MAX], const char *dir, const char *name);

/* True if `path` lies in directory `dir`, at any depth; all lie in "". Any thread. */
bool leat_path_is_below(const char *path, const char *dir);

/* What of the absolute `path` lies behind directory `dir`: "", or "/" and more; NULL: it is not
 * below. Any thread. */
const char *leat_path_behind(const char *path, const char *dir);

/* "\040" and its kind, as mountinfo has them, in place. Any thread. */
void leat_str_unescape(char *text);

/* Is it "." or ".."? Any thread. */
bool leat_is_dots(const char *name);

/* True if `text` begins with `prefix`. Async-signal-safe; here, since the preload library has no
 * other part of this. */
static inline bool leat_str_begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Does `text` end with `end`, and begin with something else? Any thread. */
bool leat_str_ends(const char *text, const char *end);

/* Number of single-character insertions, deletions and replacements that turn
 * `a` into `b`, upper and lower case alike; used to suggest the word that was
 * meant. Texts of more than 63 characters count as far apart. Any thread. */
unsigned leat_str_distance(const char *a, const char *b);

#endif
