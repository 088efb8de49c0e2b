/* The dynamic loader's cache, /etc/ld.so.cache: which libraries are in the system's directories. */
#ifndef LEAT_PRELOAD_EXEC_CACHE_H
#define LEAT_PRELOAD_EXEC_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* All 0: nobody has looked yet. */
struct leat_cache {
	bool is_read;
	const char *at; /* mapped; NULL: there is none, or it is of another form */
	size_t size;
	const char *table; /* its part of the form that is known */
	size_t table_size;
};

/* The path of a library of that name, of our own machine; NULL: it has none. Borrowed of the cache.
 * Maps it the first time. Async-signal-safe. */
const char *leat_cache_find(struct leat_cache *cache, const char *name);

void leat_cache_release(struct leat_cache *cache);

#endif
