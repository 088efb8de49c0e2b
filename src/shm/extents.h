/* Which parts of a file exist, where it was not written from its begin on: the daemon copies what
 * the rules know of it into one of a few tables in the segment, and clients look there. A table is
 * written by one thread of the daemon; readers never wait for it. Source: ours; the order of a
 * sequence lock after Boehm, "Can seqlocks get along with programming language memory models?"
 * (2012). */
#ifndef LEAT_SHM_EXTENTS_H
#define LEAT_SHM_EXTENTS_H

#include "base/range.h"
#include "shm/state.h"

#include <stddef.h>

/* --- daemon side (event loop only) --- */

/* A table for the file of that slot, to be named by its number in the next calls; 0: all are taken,
 * clients must ask then. */
uint32_t leat_shm_extents_take(struct leat_shm *shm, uint32_t slot);

/* The file's written ranges are these, sorted and merged; of more than LEAT_SHM_MAX_RANGES the
 * first ones are shown. Wakes who waits for bytes of `changed`. */
void leat_shm_extents_put(struct leat_shm *shm, uint32_t table, const struct leat_range *ranges,
			  size_t n, const struct leat_range *changed);

/* The file needs it no more: it is final, has failed, or is gone. */
void leat_shm_extents_give(struct leat_shm *shm, uint32_t table);

/* --- client side (any thread, async-signal-safe, errno untouched); `f` is of the same mapping ---
 */

/* The first written range that ends after `at`. 1 found, 0 there is none, -EAGAIN: only the daemon
 * knows. */
int leat_shm_extent(struct leat_shm *shm, struct leat_shm_file *f, uint64_t at,
		    struct leat_range *found);

/* The first part of `asked` that is written and that some consumer may have read. False: none. */
bool leat_shm_consumed_part(struct leat_shm *shm, struct leat_shm_file *f, struct leat_range asked,
			    struct leat_range *part);

/* Before a consumer reads [offset, offset+length), of which something is there: a producer that
 * changes these bytes later must find the note; waits while one is just at it. */
void leat_shm_about_to_read(struct leat_shm_file *f, uint64_t offset, uint64_t length);

/* Can the bytes [offset, offset+length) be read? */
enum leat_shm_look {
	LEAT_SHM_NOT_YET,
	LEAT_SHM_THERE,
	LEAT_SHM_FINAL, /* as far as they exist: no more will come */
	LEAT_SHM_ASK,   /* only the daemon knows */
};
/* One of these, or -EIO: the file failed. */
int leat_shm_look(struct leat_shm *shm, struct leat_shm_file *f, uint64_t offset, uint64_t length);

#endif
