/* The graph between the model and its pictures; see lang/output/graph.h. */
#ifndef LEAT_LANG_OUTPUT_INTERNAL_H
#define LEAT_LANG_OUTPUT_INTERNAL_H

#include "lang/output/graph.h"
#include "model/match.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A name or pattern of some stream. The sets are those of leat_file_rule: `writers`
 * and `readers` spell it so, `producers` and `consumers` may spell it otherwise. */
struct leat_graph_file {
	const char *text; /* borrowed */
	size_t number;
	bool wild;
	const struct leat_file_rule *rule;
	uint64_t *writers, *readers, *producers, *consumers;
	UT_hash_handle hh;
};

/* An output and an input that may be one file. */
struct leat_graph_match {
	const struct leat_graph_file *output;
	const struct leat_graph_file *input;
};

struct leat_graph {
	const struct leat_workflow *wf; /* borrowed */
	struct leat_matcher *m;
	struct leat_graph_file *files; /* in the order of their first mention */
	struct leat_graph_match *matches;
	size_t n_matches;
};

/* 0 or -ENOMEM; then too leat_graph_release is due. */
int leat_graph_init(struct leat_graph *g, const struct leat_workflow *wf);
void leat_graph_release(struct leat_graph *g);

/* The inport of the step through which it sees input `text`, or NULL. */
const struct leat_inport *leat_graph_inport(const struct leat_step *step, const char *text);

bool leat_graph_any(const struct leat_graph *g, const uint64_t *set);

void leat_graph_text(const struct leat_graph *g, FILE *out);
void leat_graph_dot(const struct leat_graph *g, FILE *out);
void leat_graph_json(const struct leat_graph *g, FILE *out);

#endif
