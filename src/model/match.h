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

/* True if `pattern` matches a directory above `path`, and so, where it stands
 * for a directory, covers it. */
bool leat_pattern_covers(const char *pattern, const char *path);

/* True if the pattern's own text can match something below directory `dir`
 * ("" is the workflow's directory). */
bool leat_pattern_reaches_below(const char *pattern, const char *dir);

/* So many bytes of the pattern name the directory in which all that it matches lies; 0: the
 * workflow's. */
size_t leat_pattern_directory(const char *pattern);

/* True if the text holds a wildcard: "*", "?" or a set "[...]"; a bracket that
 * is never closed is a plain character, and so is a backslash. */
bool leat_pattern_is_wild(const char *text);

/* True if `name`, or a directory above it, is private to the step: unless it is declared, the step
 * has a file of its own of that name. */
bool leat_step_keeps(const struct leat_step *step, const char *name);

/* <0, 0, >0 as `a` is less, equally or more specific than `b`. */
int leat_pattern_compare(const char *a, const char *b);

/* True if some text matches both. */
bool leat_pattern_overlap(const char *a, const char *b);

/* A name that the pattern matches: "*" and "?" stand for themselves, a set for
 * a member. The caller frees it. NULL when
 * out of memory. */
char *leat_pattern_sample(const char *pattern);

/* What governs one path.
 *
 * Producers: the steps with an output entry that matches the path, or that have outputs
 * in what a `dirname` rule of theirs, or of a consumer, matches; an entry that matches a
 * directory above counts unless some entry is more specific ("dir" ranks there
 * as "dir/" and a run). Consumers: the steps with an input entry that matches
 * the path or a directory above.
 *
 * `commit` to `rule` are those of the winning rule among the producers' and consumers': one for
 * the path itself before a `dirname` rule for a directory above, then the more
 * specific, then the first. With `dirname` "dir" and N files, "dir" has
 * LEAT_COMMIT_N_FILES and what is in it LEAT_COMMIT_ON_CLOSE. Where `dirname` has a
 * wildcard a file may match, too: N files then count for what turns out to be a
 * directory, and on_close for what does not. An excluded path has empty sets.
 *
 * Bit i of a set is step i; workflows of more than 64 steps use several words:
 * see leat_steps_words. Borrowed pointers live as long as the matcher. */
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
	const struct leat_rule *rule;  /* the winning rule; NULL: defaults */
	bool drop;                     /* what its only consumer has read may go (retain: false) */
	/* Directory facts, when the path itself is (or may be) a directory. */
	bool dir_declared;  /* a `dirname` rule or a stream entry names it or a directory above */
	unsigned n_files;   /* complete at N committed files; 0 = not by count */
	bool holds_outputs; /* if it is a directory, some declared output may lie below */
	bool holds_inputs;  /* the same for inputs */
};

struct leat_matcher;

/* Compile the model; borrows `wf`, which must outlive the matcher. NULL when
 * out of memory. */
struct leat_matcher *leat_matcher_new(const struct leat_workflow *wf);
void leat_matcher_free(struct leat_matcher *m);

/* Words in each step set: (n_steps + 63) / 64. */
size_t leat_steps_words(const struct leat_matcher *m);

/* The rule for `path`, or what it is a version of. Paths of which the model says the same have the
 * same rule, and it stays where it is until leat_matcher_free. NULL when out of memory. Event loop
 * only (it caches). */
const struct leat_file_rule *leat_match(struct leat_matcher *m, const char *path);

/* True if step `up` is (transitively) upstream of step `down`: some output of
 * `up` is, or for two patterns may be, an input of `down`. Steps on a common
 * cycle are upstream of each other, but a file that both read and write does
 * not order two steps. */
bool leat_is_upstream(const struct leat_matcher *m, int up, int down);
/* The same, and `down` is not upstream of `up`: in a batch `up` ends before `down` begins. */
bool leat_is_strictly_upstream(const struct leat_matcher *m, int up, int down);
/* True if two different steps are on a common cycle. */
bool leat_are_on_cycle(const struct leat_matcher *m, int a, int b);

/* How many steps are upstream of step `s`, those on a common cycle with it left out: sorted by
 * that number, and then as in the file, steps run one after another (--plain). */
size_t leat_upstream_count(const struct leat_matcher *m, int s);

/* True if step `a` runs before step `b` in a batch. */
bool leat_runs_before(const struct leat_matcher *m, int a, int b);

/* True if step `s` has an input (output) pattern that can match something
 * directly or deeper below directory `dir` ("" is the workflow's directory). */
bool leat_step_reads_below(const struct leat_matcher *m, int s, const char *dir);
bool leat_step_writes_below(const struct leat_matcher *m, int s, const char *dir);
/* The same for files that are to stay after the run (permanent). */
bool leat_is_permanent_below(struct leat_matcher *m, const char *dir);

/* -1, nobody's step, is in no set. */
static inline bool leat_steps_has(const uint64_t *set, int s)
{
	return s >= 0 && (set[s / 64] >> (s % 64)) & 1;
}

static inline void leat_steps_add(uint64_t *set, int s)
{
	set[s / 64] |= (uint64_t)1 << (s % 64);
}

/* The first step of the set that is not before `s`, or `n`, the number of steps:
 * for (s = leat_steps_next(set, 0, n); s < n; s = leat_steps_next(set, s + 1, n)) */
static inline int leat_steps_next(const uint64_t *set, int s, int n)
{
	while (s < n) {
		uint64_t rest = set[s / 64] >> (s % 64);

		if (rest)
			return s + __builtin_ctzll(rest);
		s = (s / 64 + 1) * 64;
	}
	return n;
}

#endif
