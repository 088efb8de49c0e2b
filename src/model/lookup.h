/* Finds an element of an array by its name. */
#ifndef LEAT_MODEL_LOOKUP_H
#define LEAT_MODEL_LOOKUP_H

#include <stddef.h>

/* An allocation failure is for us to handle, not for the library to exit on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* One element; a table begins as NULL. */
struct leat_lookup {
	size_t index;
	UT_hash_handle hh;
};

/* Element of that name, or NULL. */
const struct leat_lookup *leat_lookup_find(const struct leat_lookup *table, const char *name);

/* Add an element; `name` is borrowed. 0 or -ENOMEM. */
int leat_lookup_add(struct leat_lookup **table, const char *name, size_t index);
void leat_lookup_free(struct leat_lookup *table);

#endif
