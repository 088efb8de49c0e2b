/* Which steps were given the names of a directory. */
#ifndef LEAT_STREAM_STATE_SHOWN_H
#define LEAT_STREAM_STATE_SHOWN_H

#include "stream/state/state.h"

/* A step that was given the names of a directory. */
struct leat_shown_to {
	int step;
	uint64_t upto; /* those shown up to this number */
	struct leat_shown_to *next;
};

/* `step` goes on because `dir`, or a directory above it, is complete. */
void leat_shown_rely(const struct leat_stream *s, struct leat_name_state *dir, int step);
/* `step` is about to be given the names in `dir`. 0 or -ENOMEM. */
int leat_shown_list(const struct leat_stream *s, struct leat_name_state *dir, int step);
void leat_shown_free(struct leat_name_state *n);
/* For the fingerprint. */
uint64_t leat_shown_digest(const struct leat_name_state *n);

#endif
