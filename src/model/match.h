/* Which declarations govern a path: patterns, specificity and roles.
 *
 * The most specific rule wins: exact name over pattern; among patterns the one
 * with the longer literal prefix, then the more literal characters; a rule for
 * a file over the rule of its directory. Source: CAPIO-CL (2025) Sec. 4.4. */
#ifndef LEAT_MODEL_MATCH_H
#define LEAT_MODEL_MATCH_H

#include "model/workflow.h"

#include <stdint.h>

/* True if `path` matches `pattern`; a pattern without wildcards matches only itself. */
bool leat_pattern_match(const char *pattern, const char *path);

/* True if the text holds a wildcard. */
bool leat_pattern_is_wild(const char *text);

/* <0, 0, >0 as `a` is less, equally or more specific than `b`. */
int leat_pattern_compare(const char *a, const char *b);

/* True if some path could match both (used by the checks; exact for plain
 * names, conservative - may say yes - for two patterns). */
bool leat_pattern_overlap(const char *a, const char *b);

/* What governs one path. Bit i of a set is step i; workflows of more than 64
 * steps use several words: see leat_steps_words. Borrowed pointers live as long
 * as the matcher. */
struct leat_file_rule {
	const uint64_t *producers; /* steps whose output_stream matches */
	const uint64_t *consumers; /* steps whose input_stream matches */
	bool declared;             /* some stream matches, and not excluded */
	bool excluded;
	bool permanent;
	enum leat_storage storage;
	enum leat_commit commit;
	unsigned count;
	enum leat_fire fire;
	const struct leat_names *deps; /* on_file; else NULL */
	/* Directory facts, when the path itself is (or may be) a directory. */
	bool dir_declared;  /* the path is named by `dirname` or as a stream entry that is one */
	unsigned n_files;   /* complete at N committed files; 0 = not by count */
	bool holds_outputs; /* some declared output lies below this path */
	bool holds_inputs;  /* some declared input lies below this path */
};

struct leat_matcher;

/* Compile the model; borrows `wf`, which must outlive the matcher. NULL when
 * out of memory. */
struct leat_matcher *leat_matcher_new(const struct leat_workflow *wf);
void leat_matcher_free(struct leat_matcher *m);

/* Words in each step set: (n_steps + 63) / 64. */
size_t leat_steps_words(const struct leat_matcher *m);

/* The rule for `path`. Results are cached by path: the pointer is stable until
 * leat_matcher_free. NULL when out of memory. Event loop only (it caches). */
const struct leat_file_rule *leat_match(struct leat_matcher *m, const char *path);

/* True if step `up` is (transitively) upstream of step `down`: some output of
 * `up` is an input of `down`. Steps on a common cycle are upstream of each other. */
bool leat_is_upstream(const struct leat_matcher *m, int up, int down);

/* True if step `s` has an input (output) pattern that can match something
 * directly or deeper below directory `dir` ("" is the workflow's directory). */
bool leat_step_reads_below(const struct leat_matcher *m, int s, const char *dir);
bool leat_step_writes_below(const struct leat_matcher *m, int s, const char *dir);

static inline bool leat_steps_has(const uint64_t *set, int s)
{
	return (set[s / 64] >> (s % 64)) & 1;
}

#endif
