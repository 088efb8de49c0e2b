/* A directory may have two halves, in the store and on disk. When mode, owner, times or attributes
 * of one were changed, the daemon makes the other like it; if it cannot, the change is taken back.
 */
#ifndef LEAT_PRELOAD_PATH_HALVES_H
#define LEAT_PRELOAD_PATH_HALVES_H

#include "preload/path/resolve.h"

/* What a directory was before. */
struct leat_preload_half {
	bool is_dir; /* else there is nothing to be done */
	bool in_store;
	struct stat st;
};

/* Of the resolved of a LEAT_OP_META, or of an open directory of ours. */
void leat_half_note(struct leat_preload_half *h, const struct leat_resolved *resolved);
void leat_half_note_fd(struct leat_preload_half *h, int fd);

/* The change ended with `rc`; flags: LEAT_ALIKE_TIMES, LEAT_ALIKE_ATTRIBUTES, of what it was. The
 * rc of both. The resolved stays entered. */
long leat_half_changed(const struct leat_preload_half *h, struct leat_resolved *resolved, long rc,
		       unsigned flags);
long leat_half_changed_fd(const struct leat_preload_half *h, int fd, long rc, unsigned flags);

#endif
