/* Reports of steps that use the same name without an order. */
#ifndef LEAT_STREAM_CONFLICTS_CONFLICT_H
#define LEAT_STREAM_CONFLICTS_CONFLICT_H

#include "stream/state/state.h"

/* `step` used `name`, and `other` did so before. */
struct leat_clash {
	const char *name; /* borrowed */
	const char *by;   /* ALIAS: the other name by which it was changed, NULL: it is gone */
	int step, other;
	enum leat_use use, before;
	struct leat_range at; /* SHARED: the bytes, if any in particular */
};

enum leat_conflict {
	LEAT_CONFLICT,
	LEAT_CONFLICT_APPENDED,
	LEAT_CONFLICT_PRIVATE,
	LEAT_CONFLICT_SYMLINK, /* made where another step has a private file */
	LEAT_CONFLICT_LINKED,  /* used where another step has a private link */
	LEAT_CONFLICT_TAKEN,   /* a consumer removed what an earlier step looks for, or a later one
				* has used */
	LEAT_CONFLICT_SHARED,  /* two producers write over each other's parts */
	LEAT_CONFLICT_ALIAS,   /* a step changes what the other uses by another name */
};

/* Report it (leat_stream_ops.conflict), as text for a person. */
void leat_conflict_report(struct leat_stream *s, const struct leat_clash *k,
			  enum leat_conflict kind);

#endif
