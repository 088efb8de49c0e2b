/* What this process knows of committed files: that the daemon lets this step read them, and what
 * stat shows. It holds until one of two counters in shared memory moves (shm/state.h, "names").
 * Async-signal-safe, any thread, without a guard. */
#ifndef LEAT_PRELOAD_PATH_RESOLVE_CACHE_H
#define LEAT_PRELOAD_PATH_RESOLVE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct leat_resolve_cached {
	uint64_t common;  /* the counters, read before the daemon was asked */
	uint32_t changes; /* of the slot */
	uint32_t slot;
	bool input; /* the step is a consumer of it */
};

/* The common counter; 0 while no thread has connected: then nothing is remembered. */
uint64_t leat_resolve_cache_common(void);

/* What is known of the file that lies `length` bytes of `below` below the workflow's directory;
 * with `st` only if what stat shows is known, too. `looks`: not to open it. */
bool leat_resolve_cache_find(const char *below, size_t length, bool looks,
			     struct leat_resolve_cached *known, struct stat *st);

/* Remember it, in place of others; `st` may be NULL. Only under a guard. */
void leat_resolve_cache_put(const char *below, size_t length,
			    const struct leat_resolve_cached *known, const struct stat *st);

/* Forget everything: this process may see files with other eyes now. */
void leat_resolve_cache_forget(void);

/* Around a change of what stat shows of some file inside. */
void leat_resolve_cache_changing(void);
void leat_resolve_cache_changed(void);

#endif
