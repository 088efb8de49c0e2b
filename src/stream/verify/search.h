/* What the two searches share. */
#ifndef LEAT_STREAM_VERIFY_SEARCH_H
#define LEAT_STREAM_VERIFY_SEARCH_H

#include "stream/verify/seen.h"
#include "stream/verify/system.h"

/* Kept at a state while what follows from it is explored. */
struct verify_frame {
	void *heap; /* owned */
	size_t heap_capacity;
	struct verify_state st;
	uint32_t *next; /* owned; packed actions */
	int n, at, capacity;
};

struct leat_verify {
	struct verify_model model;
	struct verify_system system;
	struct leat_heap *heap;      /* owned */
	struct verify_frame *frames; /* owned; by depth */
	unsigned capacity;
	uint32_t *way; /* owned; the actions that lead to the state the system is in */
	struct leat_verify_result *result;
};

uint32_t leat_verify_pack(const struct verify_action *a);
struct verify_action leat_verify_unpack(uint32_t action);

/* From the beginning, the actions of a way. 0 or -errno. */
int leat_verify_go(struct leat_verify *v, const uint32_t *way, unsigned length);

/* Of the state the system is in. */
uint64_t leat_verify_hash(const struct verify_system *w);

/* If the system is at fault in a way not noted yet, note it, with a copy of the way. 0 or -ENOMEM.
 */
int leat_verify_note(const struct verify_system *w, struct leat_verify_result *r,
		     const uint32_t *way, unsigned length);
/* Is it noted: the same fault, or a deadlock of some of the same steps? */
bool leat_verify_is_noted(const struct leat_verify_result *r,
			  const struct leat_verify_finding *what);
/* What comes after a broken promise proves nothing. */
bool leat_verify_goes_on(const struct verify_system *w);
/* Nothing but failures can come: look whether that is as it should be. */
void leat_verify_check_rest(struct verify_system *w, const struct verify_action *next, int n);

/* Go through all states from the beginning. 0 or more, or -errno. */
int leat_verify_search(struct leat_verify *v, struct verify_seen *seen);
/* Replace ways by shortest ones, as far as `limit` states reach. 0 or -ENOMEM. */
int leat_verify_shorten(struct leat_verify *v, uint64_t limit);

#endif
