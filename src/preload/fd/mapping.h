/* Windows: the memory of a file that a descriptor has mapped for small reads or writes, and what
 * was copied through it. */
#ifndef LEAT_PRELOAD_FD_MAPPING_H
#define LEAT_PRELOAD_FD_MAPPING_H

#include "preload/fd/table.h"

#include <stdbool.h>
#include <stdint.h>

/* The size of a window: a huge page, and so aligned. */
#define LEAT_WINDOW_BYTES (UINT64_C(2) << 20)

/* --- while the record is taken (leat_fd_acquire) --- */

/* Is [at, at + length) in its window, and the file still there? */
static inline bool leat_window_holds(const struct leat_fd *r, uint64_t at, uint64_t length)
{
	const struct leat_window *w = &r->window;

	return w->base && at >= w->start && at + length <= w->end && w->generation == r->generation;
}

/* Have the window around `at`, mapped by `fd`, in the place of the one before. */
bool leat_window_map(struct leat_fd *r, int fd, uint64_t at, int protection, uint32_t generation);

/* Count what was not counted yet. */
void leat_window_note_calls(struct leat_fd *r);

/* --- while it is not --- */

/* The same; who has it counts later. */
void leat_window_count(struct leat_fd *r);

/* The file is elsewhere now: let go of the memory it had, unless somebody is just looking at it. */
void leat_window_drop(struct leat_fd *r);

/* The descriptor is about to be closed: unmap, count what was not counted yet. */
void leat_window_close(struct leat_fd *r, int fd);

#endif
