/* The keys of a map, read by a table. */
#ifndef LEAT_LANG_READER_KEYS_H
#define LEAT_LANG_READER_KEYS_H

#include "lang/reader/front.h"

enum leat_key_kind {
	LEAT_KEY_TAKEN,   /* into its slot */
	LEAT_KEY_VARIANT, /* another spelling of the key that has the slot: warned about */
};

struct leat_key {
	const char *name;
	enum leat_key_kind kind;
	int slot;
};

/* Sort the keys of `map` into `slots` (of `n_slots`, zeroed here) by the table
 * `keys` (ends with a NULL name). `where` completes "unknown key in ...". False
 * if `map` is no map (reported, with `what` it should be). */
bool leat_keys_read(struct leat_front *front, const struct leat_value *map, const char *where,
		    const struct leat_key *keys, struct leat_pair *slots, size_t n_slots);

/* Report that the key `name` is missing at `pos`. */
void leat_key_missing(struct leat_front *front, struct leat_pos pos, const char *name,
		      const char *where);

#endif
