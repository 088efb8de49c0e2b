/* The compiled model, shared by the files of this layer. */
#ifndef LEAT_MODEL_MATCHER_H
#define LEAT_MODEL_MATCHER_H

#include "base/recent.h"
#include "model/index.h"
#include "model/match.h"

/* One stream entry or rule that concerns the path in hand. */
struct leat_hit {
	const struct leat_index_entry *entry;
	bool below;
};

/* A rule, and the sets that it points to: one for all paths of which the model says the same. The
 * key is what follows the two pointers. */
struct leat_kept_rule {
	UT_hash_handle hh;
	struct leat_file_rule rule;
	uint64_t sets[]; /* producers, consumers */
};

/* Of one of the paths asked for last. */
struct leat_cached {
	UT_hash_handle hh;
	const struct leat_file_rule *rule;
	char path[];
};

struct leat_matcher {
	const struct leat_workflow *wf; /* borrowed */
	size_t words;
	struct leat_index index;
	struct leat_cached *cache;
	struct leat_recent recent; /* of `cache` */
	struct leat_kept_rule *rules;
	struct leat_kept_rule *next; /* not one of them yet; NULL: to be made */
	struct leat_hit *hits;       /* of the path in hand */
	size_t n_hits;
	uint64_t *upstream; /* row s: the steps that s is upstream of */
};

/* Fill m->upstream. 0 or -ENOMEM. */
int leat_matcher_order(struct leat_matcher *m);

#endif
