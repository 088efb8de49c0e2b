/* The checks themselves and what they share; see lang/check/check.h. */
#ifndef LEAT_LANG_CHECK_INTERNAL_H
#define LEAT_LANG_CHECK_INTERNAL_H

#include <limits.h>

#include "lang/check/check.h"

leat_check_fn leat_check_dep_cycle, leat_check_dep_unproduced, leat_check_input_missing,
	leat_check_closes_too_few, leat_check_count_unreachable, leat_check_deadlock,
	leat_check_home_step, leat_check_rule_tie, leat_check_permanent_unused,
	leat_check_exclude_unused, leat_check_pattern_captures, leat_check_two_updaters,
	leat_check_retain, leat_check_rule_no_output, leat_check_action_file,
	leat_check_action_mode, leat_check_needs_units, leat_check_limit_staged,
	leat_check_needs_device, leat_check_needs_bandwidth, leat_check_needs_resources,
	leat_check_needs_stream, leat_check_outputs_overlap, leat_check_private, leat_check_symlink,
	leat_check_container;

/* What governs the files that `text` stands for: of a pattern, one name that it
 * matches. NULL when out of memory. */
const struct leat_file_rule *leat_check_rule_of(const struct leat_check_context *ctx,
						const char *text);

/* True if two names or patterns may concern one file, as the file or as a
 * directory above it. */
bool leat_check_meets(const char *a, const char *b);

/* True if one of the names meets `text`. */
bool leat_check_any_meets(const struct leat_names *names, const char *text);

/* The steps with an output that meets `text`; good until the next call. */
const uint64_t *leat_check_producers(const struct leat_check_context *ctx, const char *text);

/* True if there is such a step. */
bool leat_check_is_produced(const struct leat_check_context *ctx, const char *text);

/* True if step `s` has an output or an input that meets `text`. */
bool leat_check_is_used(const struct leat_check_context *ctx, size_t s, const char *text);

/* Number of different files declared by plain name below directory `dir`;
 * UINT_MAX if a pattern or the directory itself leaves it open. */
unsigned leat_check_files_in(const struct leat_check_context *ctx, const char *dir);

/* What `text` is without the symlinks in its directory, which lead to another one in `dir`; false:
 * nothing else. */
bool leat_check_other_name(const char *dir, const char *text, char other[PATH_MAX]);

/* Number of steps in a set. */
unsigned leat_check_count_steps(const struct leat_check_context *ctx, const uint64_t *set);

/* "A, B and C": the steps of a set; the caller frees it. NULL when out of memory. */
char *leat_check_list_steps(const struct leat_check_context *ctx, const uint64_t *set);

/* For ctx->outputs. NULL when out of memory; NULL can be freed. */
struct leat_check_outputs *leat_check_outputs_new(const struct leat_workflow *wf);
void leat_check_outputs_free(struct leat_check_outputs *o);

#endif
