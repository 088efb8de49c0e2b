/* Directory listings: what is in a directory of the tree, in either place. */
#ifndef LEAT_STORE_LIST_H
#define LEAT_STORE_LIST_H

#include "store/tree.h"

#include <stddef.h>

struct leat_store_entry {
	uint64_t ino;
	unsigned char type; /* DT_* */
	char *name;         /* owned */
};

/* A growing array; zero is empty. */
struct leat_listing {
	struct leat_store_entry *v; /* owned */
	size_t n;
	size_t capacity;
};

/* Append a copy of the entry. 0 or -ENOMEM. */
int leat_listing_add(struct leat_listing *l, uint64_t ino, unsigned char type, const char *name);
void leat_listing_release(struct leat_listing *l);

/* Append every name of the directory `path` (canonical) in both places, each
 * once, "." and ".." included, leat's own temporary names left out. 0 or
 * -errno (-ENOENT: in neither place). */
int leat_tree_list(struct leat_tree *t, const char *path, struct leat_listing *l);

#endif
