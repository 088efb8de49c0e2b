/* What was found last by a name, so that who asks for one name several times in a row does not
 * search a large table for it each time: the table is the truth, and forgets here what leaves it.
 */
#ifndef LEAT_BASE_RECENT_H
#define LEAT_BASE_RECENT_H

#include "base/hash.h"

#include <string.h>

#define LEAT_RECENT 16u

/* All NULL at first. */
struct leat_recent {
	void *v[LEAT_RECENT]; /* borrowed */
};

/* The only place where what has that name may be: it, another, or NULL. */
static inline void **leat_recent_place(struct leat_recent *r, const char *name)
{
	/* the high bits are the best mixed */
	return &r->v[(leat_hash(name, strlen(name), 0) * LEAT_HASH_PRIME >> 32) % LEAT_RECENT];
}

/* `thing` leaves the table, or changes its name. */
static inline void leat_recent_forget(struct leat_recent *r, const void *thing)
{
	for (unsigned i = 0; i < LEAT_RECENT; i++)
		if (r->v[i] == thing)
			r->v[i] = NULL;
}

#endif
