/* Patterns taken apart: for the matcher's index only; others use model/match.h. */
#ifndef LEAT_MODEL_PATTERN_H
#define LEAT_MODEL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* How specific a name or pattern is; compared field by field. */
struct leat_specificity {
	bool exact;      /* holds no wildcard */
	size_t prefix;   /* bytes before the first wildcard */
	size_t literals; /* characters that stand for themselves */
};

struct leat_specificity leat_pattern_specificity(const char *pattern);

/* The specificity of "everything below `directory`", as if written "directory/ *". */
struct leat_specificity leat_pattern_specificity_below(struct leat_specificity directory);

/* <0, 0, >0 as `a` is less, equally or more specific than `b`. */
int leat_specificity_compare(const struct leat_specificity *a, const struct leat_specificity *b);

/* leat_pattern_match on the first `length` bytes of `path`. */
bool leat_pattern_match_n(const char *pattern, const char *path, size_t length);

#endif
