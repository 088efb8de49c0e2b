/* One streaming entry: commit rule, firing rule, and for which names. */
#ifndef LEAT_LANG_READER_RULE_H
#define LEAT_LANG_READER_RULE_H

#include "lang/reader/front.h"

struct leat_rule_text {
	struct leat_pos pos; /* of the whole entry */
	struct leat_pair name, dirname, type;
	struct leat_pair committed, mode, deps, n_files, retain;
	const char *name_key; /* "name" or "filename", for messages */
	bool capio;           /* of CAPIO-CL: what its schema lets pass is taken */
};

/* Add the rules of one entry to step `step`; all streams must be known. */
int leat_read_rule(struct leat_front *front, size_t step, const struct leat_rule_text *text);

/* Report directories that have two numbers of files. */
int leat_rules_check(struct leat_front *front);

#endif
