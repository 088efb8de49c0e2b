/* The checks themselves and what they share; see lang/check/check.h. */
#ifndef LEAT_LANG_CHECK_INTERNAL_H
#define LEAT_LANG_CHECK_INTERNAL_H

#include "lang/check/check.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

#include <limits.h>

/* What every check is given. */
struct leat_check_context {
	const struct leat_workflow *wf;
	struct leat_matcher *m;
	const char *dir; /* the workflow's directory, resolved; NULL: not known */
	bool ready;      /* what is to be there before the run is: look for it in `dir` */
	struct leat_diags *diags;
	struct leat_check_outputs *outputs; /* all output entries, in order */
};

/* Report what is wrong to ctx->diags. 0 or -ENOMEM. */
typedef int leat_check_fn(const struct leat_check_context *ctx);

#define CHECK(function) leat_check_fn function;
#include "lang/check/checks.def"
#undef CHECK

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
