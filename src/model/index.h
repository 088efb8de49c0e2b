/* All declarations of a workflow, found by path: exact names by hash, patterns
 * one after another. The matcher's own; others use model/match.h. */
#ifndef LEAT_MODEL_INDEX_H
#define LEAT_MODEL_INDEX_H

#include "model/pattern.h"
#include "model/workflow.h"

/* A failed addition leaves hh.tbl NULL instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#include "base/tables.h"

enum leat_index_entry_kind {
	LEAT_ENTRY_OUTPUT,
	LEAT_ENTRY_INPUT,
	LEAT_ENTRY_RULE,
	LEAT_ENTRY_PERMANENT,
	LEAT_ENTRY_EXCLUDE,
	LEAT_ENTRY_MEMORY,
	LEAT_ENTRY_FS,
};

/* One name or pattern in one place of the workflow. */
struct leat_index_entry {
	char *text; /* owned; of `dirname` "dir/ *" without the run: it means the directory */
	enum leat_index_entry_kind kind;
	int step;                     /* OUTPUT, INPUT, RULE; else -1 */
	const struct leat_rule *rule; /* RULE; borrowed from the workflow */
	struct leat_specificity spec;
	bool produces;    /* OUTPUT; RULE by `dirname` whose step has outputs in there */
	bool consumes;    /* RULE by `dirname` whose step has inputs in there, and no outputs */
	uint64_t *makers; /* owned; with `consumes`: the steps that have outputs in there */
	struct leat_index_entry *next; /* same exact text */
};

/* One exact name, or a directory on the way to one. */
struct leat_index_node {
	char *text; /* owned */
	struct leat_index_entry *entries;
	struct leat_index_entry **tail;
	uint64_t *inputs_below;  /* steps that declare an exact input below */
	uint64_t *outputs_below; /* the same for outputs */
	bool has_inputs_below, has_outputs_below;
	UT_hash_handle hh;
};

struct leat_index {
	struct leat_index_entry *entries;
	size_t n_entries;
	struct leat_index_node *nodes;
	struct leat_index_entry **wild; /* entries with wildcards, in the workflow's order */
	size_t n_wild;
};

/* 0 or -ENOMEM; then too leat_index_release is due. Borrows `wf`. */
int leat_index_init(struct leat_index *index, const struct leat_workflow *wf);
void leat_index_release(struct leat_index *index);

/* The node of the first `length` bytes of `path`, or NULL. */
struct leat_index_node *leat_index_find(const struct leat_index *index, const char *path,
					size_t length);

/* Call `fn` for each entry that matches `path` itself (`below` false) or, as a
 * directory, contains it (`below` true; not for rules written as `name`). Each
 * entry is reported once; exact names first, from the path upwards. */
typedef int leat_index_hit_fn(void *ctx, const struct leat_index_entry *e, bool below);
int leat_index_each_hit(const struct leat_index *index, const char *path, leat_index_hit_fn *fn,
			void *ctx);

#endif
