/* Names of committed files, published by the daemon so that whoever opens one or looks for one
 * need not ask. A cache: a name that is not there, or not any more, is asked for. */
#ifndef LEAT_SHM_NAMES_H
#define LEAT_SHM_NAMES_H

#include "shm/state.h"

#include <stddef.h>

/* What is published of a name. It holds while the two counters stand still (state.h, "names") and
 * the file is committed. */
struct leat_shm_fact {
	uint64_t common;    /* leat_shm_changes */
	uint64_t consumers; /* bit s: step s is a consumer of it */
	uint32_t changes;   /* leat_shm_file_changes */
	uint32_t slot;
};

/* Steps from this one on must ask. */
#define LEAT_SHM_NAME_STEPS 64

/* Publish it, perhaps in place of others. Names too long for the table are left out. Daemon only.
 */
void leat_shm_name_put(struct leat_shm *shm, const char *name, const struct leat_shm_fact *fact);

/* What is published of the name of `length` bytes, which may be out of date; false: nothing. Any
 * thread, async-signal-safe. */
bool leat_shm_name_find(struct leat_shm *shm, const char *name, size_t length,
			struct leat_shm_fact *fact);

#endif
